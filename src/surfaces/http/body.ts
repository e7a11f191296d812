import { ParleyError } from '#contract/errors.ts';
import { readModel } from '#contract/named-model.ts';
import { parseBody } from './parse-body.ts';

/** A JSON body: parsed when it is asked for, and forgotten once it is taken, since a stream may outlive it by hours. */
export class Body {
  #bytes: Buffer | undefined;
  #value: unknown;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The deployment that stock OpenAI clients name. Throws `invalid_json`, or `invalid_request` if none is named. */
  model(): string {
    const model = readModel(this.#parsed());
    if (model !== undefined) return model;
    throw new ParleyError('invalid_request', 'model must name a deployment; GET /v1/models lists yours.', { param: 'model' });
  }

  /** The value, once. Throws `invalid_json`. */
  take(): unknown {
    const value = this.#parsed();
    this.#value = undefined;
    return value;
  }

  #parsed(): unknown {
    if (this.#bytes !== undefined) {
      this.#value = parseBody(this.#bytes);
      this.#bytes = undefined;
    }
    return this.#value;
  }
}
