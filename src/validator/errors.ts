/** Errors of the engines. A quota that is used up is an outcome, not an error. */

/** A service that is needed cannot be reached, or gives an invalid answer. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
}

/** The key is missing, or the service does not accept it. */
export class AuthorisationError extends Error {
  override readonly name = "AuthorisationError";
}
