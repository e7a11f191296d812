import { hash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { ParleyError } from '#contract/errors.ts';
import { readModel } from '#contract/named-model.ts';
import { parseBody } from '../http/parse-body.ts';

/** A body of the dialect; forgotten once it is taken, since a stream may outlive it by hours. */
export class Body {
  #value: unknown;

  /** Throws `invalid_json`. */
  constructor(bytes: Buffer) {
    this.#value = parseBody(bytes);
  }

  /** Id of the deployment that is asked for. Throws `invalid_request` if none is named. */
  model(): string {
    const model = readModel(this.#value);
    if (model !== undefined) return model;
    throw new ParleyError('invalid_request', 'model: must name a deployment; GET /anthropic/v1/models lists yours.', {
      param: 'model',
    });
  }

  /** The same for all turns of one conversation of a user: what a prompt cache goes by. */
  prefix(subject: string): string {
    const { system, messages } = this.#fields();
    const [first] = Array.isArray(messages) ? messages : [];
    return hash('sha256', JSON.stringify([subject, system, first]), 'base64url');
  }

  /** The value, once. */
  take(): unknown {
    const value = this.#value;
    this.#value = undefined;
    return value;
  }

  #fields(): JsonObject {
    return isJsonObject(this.#value) ? this.#value : {};
  }
}
