/** The engine of a run, behind one interface for the offline engine and for a service. */
import type { CachePort } from "../../core/run/cache-port.js";
import type { QuotaState, Validator } from "../../core/validator/validator.js";
import type { ApiEngine } from "../../engines/api/engine.js";

export interface Engine {
  readonly validator: Validator;
  readonly reason: string;
  readonly cache?: CachePort;
  readonly requests?: () => number;
  /** Charges nothing; absent for a service, and where nothing is counted. */
  readonly quota?: () => Promise<QuotaState>;
  readonly dryRunItems?: () => number;
  readonly verdictsAdded?: () => number;
  readonly activity?: () => ApiEngine["activity"];
  readonly probe?: ApiEngine["probe"];
  /** Called before outputs appear, to make sure of the charge. @throws UnitsLost when their units were given to others */
  readonly secure?: () => Promise<void>;
  /** Called when outputs have appeared: what was charged for them is paid. */
  readonly deliver?: () => Promise<void>;
  /** Units of the last delivery that another run of the same name had paid. */
  readonly takePaidBefore?: () => number;
  /** Waits a moment, less if interrupted, for answers in flight, which may be paid for. Later calls wait for the first. */
  close(isInterrupted?: boolean): Promise<void>;
}

export function once(close: Engine["close"]): Engine["close"] {
  let closed: Promise<void> | undefined;
  return (isInterrupted) => {
    closed ??= close(isInterrupted);
    return closed;
  };
}
