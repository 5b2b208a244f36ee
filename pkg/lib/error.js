const mark = Symbol.for("warifu.error");

/** Every error this package throws. */
export class WarifuError extends Error {
  constructor(code, message, { retryable = false, path = null, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.retryable = retryable;
    this.path = path;
  }

  get name() {
    return "WarifuError";
  }

  get [mark]() {
    return true;
  }
}

/** Whether it is an error of this package, of another copy of it too. */
export const isWarifuError = (error) => typeof error === "object" && error !== null && error[mark] === true;
