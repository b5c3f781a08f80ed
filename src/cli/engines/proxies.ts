/** The proxies between idv and a service, as the environment names them. */
import { isLoopback } from "../../engines/api/loopback.js";
import { UsageError } from "../errors.js";

/** For a service on this machine, whose key may be sent unencrypted, proxies elsewhere are ignored. @throws UsageError */
export function proxiesFor(url: string, env: NodeJS.ProcessEnv) {
  const isHere = isLoopback(new URL(url).hostname);
  const proxyOf = (name: string) => {
    const proxy = env[name] || env[name.toUpperCase()] || "";
    if (proxy === "") return "";
    if (!URL.canParse(proxy) || !/^https?:$/.test(new URL(proxy).protocol)) {
      // The value may hold a password, so it is not shown.
      throw new UsageError(`${name.toUpperCase()}: not a URL such as http://proxy.example.com:3128`);
    }
    return isHere && !isLoopback(new URL(proxy).hostname) ? "" : proxy;
  };
  const noProxy = env["no_proxy"] || env["NO_PROXY"] || "";
  return { httpProxy: proxyOf("http_proxy"), httpsProxy: proxyOf("https_proxy"), noProxy };
}
