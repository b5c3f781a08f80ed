/** Asks a service whether it is there and accepts a key, at no cost. For `idv login` and `idv doctor`. */
import { AuthorisationError, ServiceError } from "../../core/validator/errors.js";
import type { Settings } from "../config/settings.js";
import { say } from "../terminal/terminal.js";
import { openApiEngine } from "./api-engine.js";
import type { EngineChoice } from "./engine-choice.js";

/** Sends no items, so it costs nothing; even a refusal can accept the key. @throws AuthorisationError, ServiceError */
export async function askService(choice: Extract<EngineChoice, { name: "api" }>, settings: Settings) {
  const engine = await openApiEngine(choice, { kind: "email", settings, cache: "off", wait: 0, note: say });
  try {
    const { status, isJson, said, left } = await engine.probe!("email");
    const text = `${choice.baseUrl.value}: answers ${status}${said}`;
    if (status === 401) throw new AuthorisationError(text);
    // A page is the answer of another program, or of the dashboard. 400, 422: a request without items is refused. 403: the key may be for domains only. 429: no quota left.
    const isHealthy = isJson && ((status >= 200 && status < 300) || [400, 403, 422, 429].includes(status));
    if (!isHealthy) throw new ServiceError(`${text}; is the base URL right?`);
    return { text, left };
  } finally {
    await engine.close();
  }
}
