/** Errors of the engines. A quota that is used up is an outcome, not an error. */

/** A required service cannot be reached, or its answer is invalid. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
}

/** The key is missing, or the service does not accept it. */
export class AuthorisationError extends Error {
  override readonly name = "AuthorisationError";
}
