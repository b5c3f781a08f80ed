/** Fetches own lists from URLs if they have changed, and reads one that cannot be had from its copy. */
import { createHash } from "node:crypto";
import { stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../core/classifier/syntax/fault.js";
import { parseListLine } from "../../core/classifier/tables/own-lists.js";
import { ServiceError } from "../../core/validator/errors.js";
import { fetchList, withoutSecrets } from "../../engines/data/fetch-list.js";
import { readIfPresent, writePrivately } from "../../files/private-file.js";
import { counted } from "../../text.js";
import { day } from "../../time.js";
import { proxiesFor } from "../engines/proxies.js";
import { UsageError } from "../errors.js";
import { safeUrl } from "../options/addresses.js";
import { listFolder } from "./paths.js";

/** In milliseconds: every run asks. */
const patience = 5000;

/** `note` gets the age of a copy read in place of the list. @throws UsageError, ServiceError without a copy, FileError */
export async function readListUrl(
  given: string,
  isOffline: boolean,
  env: NodeJS.ProcessEnv,
  note: (text: string) => void,
): Promise<Uint8Array> {
  const url = safeUrl(given);
  if (url === undefined)
    throw new UsageError("--allow, --deny: a list at a URL has to be at https://, or on this machine");
  const shown = withoutSecrets(url);
  // The name tells nothing of the URL.
  const path = join(listFolder(env), createHash("sha256").update(url).digest("hex"));
  const text = await readIfPresent(path);
  const end = text?.indexOf("\n") ?? -1;
  const copy = text === undefined ? undefined : { etag: text.slice(0, end), list: text.slice(end + 1) };
  const useCopy = async (why: string): Promise<Uint8Array> => {
    if (copy === undefined) throw new ServiceError(`${shown}: ${why}, and there is no copy of it`);
    const days = Math.floor((Date.now() - (await stat(path)).mtimeMs) / day);
    note(`${shown}: ${why}; using the copy of ${days < 1 ? "today" : `${counted(days, "day")} ago`}`);
    return Buffer.from(copy.list);
  };
  if (isOffline) return useCopy("not fetched with --offline");
  try {
    const fetched = await fetchList(url, copy?.etag, proxiesFor(url, env), patience);
    if (fetched === undefined) {
      await utimes(path, new Date(), new Date());
      return Buffer.from(copy!.list);
    }
    // A page of a proxy or of a portal must not take the place of the list.
    const isWrong = fetched.text.split(/[\r\n]+/).some((line) => parseListLine(line, "deny") instanceof Fault);
    if (isWrong) return useCopy("the answer is not a list of domains and addresses");
    await writePrivately(path, `${fetched.etag}\n${fetched.text}`);
    return Buffer.from(fetched.text);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return useCopy(error.message.replace(`${shown}: `, ""));
  }
}
