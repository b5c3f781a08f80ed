/** `idv dashboard`: a link to sign in to the pages of `idv serve`. */

import { stateEnvironment, stateOptions, withServiceState } from "../../config/service-state.js";
import { serviceUrl } from "../../options/addresses.js";
import { type OptionValues, optionRecords } from "../../options/option.js";
import { personName } from "../../options/values.js";
import { print } from "../../terminal/standard-output.js";
import { say } from "../../terminal/terminal.js";
import { commandLineAuthor } from "../changes.js";
import { type DefineCommand, describe } from "../command.js";

const linkOptions = optionRecords({
  ...stateOptions,
  baseUrl: {
    flags: "--base-url <URL>",
    help: "where people reach the service",
    parse: serviceUrl,
    fallback: "http://127.0.0.1:8787",
  },
  name: { flags: "--name <NAME>", help: "whom the link is for, as the audit calls them", parse: personName },
  signOutAll: { flags: "--sign-out-all", help: "end all sessions and links instead", conflicts: ["name"] },
});

export const define: DefineCommand = (command) => {
  describe(command, {
    description:
      "Prints a link to the dashboard of idv serve: keys, usage, and lists checked in the browser.\nThe link works once, for 10 minutes. Anyone who can use the state can make one; there is no password.",
    examples: [
      "dashboard",
      "dashboard --base-url https://validation.example.com",
      "dashboard --name anna",
      "dashboard --sign-out-all",
    ],
    options: linkOptions,
    environment: stateEnvironment,
    topics: ["service"],
  }).action(makeLink);
};

const makeLink = ({ baseUrl, name, signOutAll, ...options }: OptionValues<typeof linkOptions>): Promise<void> =>
  withServiceState(options, async (store) => {
    if (signOutAll) {
      await store.sessions.signOutAll();
      await store.record({ who: commandLineAuthor(), what: "all sessions and links ended", keyId: "" });
      return say("all sessions and links have ended");
    }
    const token = await store.sessions.createSignIn(name);
    const whom = name === undefined ? "" : ` for ${name}`;
    await store.record({ who: commandLineAuthor(), what: `link to sign in made${whom}`, keyId: "" });
    print(`${baseUrl}/dashboard/sign-in?token=${token}\n`);
    say("the link works once, for 10 minutes");
  });
