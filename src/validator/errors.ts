/** A service that is needed cannot be reached, or answers nonsense. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
}

/** There is no key, or the service does not accept the one there is. */
export class AuthorisationError extends Error {
  override readonly name = "AuthorisationError";
}
