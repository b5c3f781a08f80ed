/** `idv dashboard`: a link to sign in to the pages of `idv serve`. */
import { Option } from "commander";
import { serviceUrl } from "../config/option-values.js";
import { openServiceState } from "../engines/service-state.js";
import { print } from "../terminal/standard-output.js";
import { say } from "../terminal/terminal.js";
import { type DefineCommand, describe } from "./command.js";
import { stateOption } from "./state-option.js";

interface DashboardOptions {
  readonly state?: string;
  readonly baseUrl: string;
  readonly signOutAll?: true;
}

export const define: DefineCommand = (command) => {
  describe(command, {
    description:
      "Prints a link to the dashboard of idv serve: keys, usage, and lists checked in the browser.\nThe link is good for 10 minutes, and once. Whoever can use the state may make one; there is no password.",
    examples: [
      "dashboard",
      "dashboard --base-url https://validation.example.com",
      "dashboard --sign-out-all",
    ],
    environment: ["IDV_STATE", "IDV_STATE_FILE", "XDG_STATE_HOME"],
    topics: ["service"],
  })
    .addOption(stateOption())
    .addOption(
      new Option("--base-url <URL>", "where people reach the service")
        .argParser(serviceUrl)
        .default("http://127.0.0.1:8787"),
    )
    .option("--sign-out-all", "end all sessions and links instead")
    .action(makeLink);
};

async function makeLink({ state, baseUrl, signOutAll }: DashboardOptions): Promise<void> {
  const store = await openServiceState(state, process.env);
  try {
    if (signOutAll) {
      await store.signOut();
      return say("all sessions and links have ended");
    }
    print(`${baseUrl}/dashboard/sign-in?token=${await store.createSignIn()}\n`);
    say("the link is good for 10 minutes, and once");
  } finally {
    await store.close();
  }
}
