import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { callerKey, withKey } from '#test/start-service.ts';
import type { Random } from '../random.ts';
import { consentedNames, quickAppType } from '../support/calm-upstream.ts';
import type { Tally } from '../tally.ts';

/** An item that is written repeatedly with different values. */
export interface Register {
  readonly name: string;
  write(url: string, value: number): Promise<TestResponse>;
  /** Returns the current value, or 0 without one. Throws if the stored value was never written completely. */
  readValue(url: string): Promise<number>;
}

const get = (url: string, path: string): Promise<TestResponse> =>
  sendRequest(url, { method: 'GET', path, headers: { 'api-key': callerKey } });
const put = (url: string, path: string, body: unknown): Promise<TestResponse> =>
  sendRequest(url, { method: 'PUT', path, headers: withKey(), body });

function requireStatus({ status, text }: TestResponse, ...allowed: readonly number[]): void {
  if (!allowed.includes(status)) throw new Error(`${status} ${text.slice(0, 200)}`);
}

/** Creates content that encodes its own length, so that truncated content is detected. */
function toContent(value: number): string {
  return `${value}:${'x'.repeat((value * 7_919) % 200_000)}`;
}

function file(bucket: string, index: number): Register {
  const path = `/v1/files/${bucket}/kills/${index}.txt`;
  return {
    name: `file ${index}`,
    write: (url, value) => put(url, path, toContent(value)),
    async readValue(url) {
      const answered = await get(url, path);
      requireStatus(answered, 200, 404);
      if (answered.status === 404) return 0;
      const value = Number.parseInt(answered.text, 10);
      if (answered.text !== toContent(value))
        throw new Error(`half of a file: ${answered.text.length} bytes of ${toContent(value).length}`);
      return value;
    },
  };
}

function prompt(bucket: string, index: number): Register {
  const path = `/v1/prompts/${bucket}/kills-${index}`;
  return {
    name: `prompt ${index}`,
    write: (url, value) => put(url, path, { id: 'p', folderId: 'f', name: String(value), content: toContent(value) }),
    async readValue(url) {
      const answered = await get(url, path);
      requireStatus(answered, 200, 404);
      if (answered.status === 404) return 0;
      const { name, content } = answered.json as { name: string; content: string };
      if (content !== toContent(Number(name))) throw new Error('half of a prompt');
      return Number(name);
    },
  };
}

function application(bucket: string, index: number): Register {
  const path = `/v1/applications/${bucket}/kills-${index}`;
  const properties = { temperature: 0, instructions: 'Be kind.', model: 'free' };
  return {
    name: `application ${index}`,
    write: (url, value) =>
      put(url, path, {
        displayName: String(value),
        applicationTypeSchemaId: quickAppType,
        applicationProperties: { ...properties, instructions: toContent(value) },
      }),
    async readValue(url) {
      const answered = await get(url, path);
      requireStatus(answered, 200, 404);
      if (answered.status === 404) return 0;
      const value = answered.json as Record<string, unknown>;
      const storedValue = Number(value.displayName ?? value.display_name);
      if (!JSON.stringify(value).includes(`"${toContent(storedValue)}"`)) throw new Error('half of an application');
      return storedValue;
    },
  };
}

/** Odd values grant consent, even values withdraw it. */
function consent(name: string): Register {
  const path = `/v1/consent/${name}`;
  return {
    name: `consent to ${name}`,
    async write(url, value) {
      if (value % 2 === 0) return sendRequest(url, { method: 'DELETE', path, headers: { 'api-key': callerKey } });
      const form = { [name]: { consentRequired: true }, guarded: { consentRequired: true } };
      return sendRequest(url, { path, headers: withKey(), body: { consent: form } });
    },
    async readValue(url) {
      const answered = await get(url, path);
      requireStatus(answered, 200);
      return (answered.json as { accepted: boolean }).accepted ? 1 : 0;
    },
  };
}

/** Opens all registers of the test caller. */
export async function openRegisters(url: string): Promise<readonly Register[]> {
  const { bucket } = (await get(url, '/v1/bucket')).json as { bucket: string };
  const four = [0, 1, 2, 3];
  const kinds = [file, prompt, application].flatMap((make) => four.map((index) => make(bucket, index)));
  return [...kinds, ...consentedNames.map(consent)];
}

/** The last acknowledged value of each register, and the values that were sent after it. */
export class Ledger {
  readonly #states = new Map<Register, { acknowledged: number; sent: number[] }>();
  readonly #tally: Tally;
  #next = 1;

  constructor(registers: readonly Register[], tally: Tally) {
    for (const register of registers) this.#states.set(register, { acknowledged: 0, sent: [] });
    this.#tally = tally;
  }

  /** Writes until `hasEnded`. A success response acknowledges the value. */
  async writeOn(url: string, register: Register, hasEnded: () => boolean): Promise<void> {
    const state = this.#states.get(register);
    while (state !== undefined && !hasEnded()) {
      const value = this.#next;
      this.#next += 1;
      state.sent.push(value);
      try {
        const { status, text } = await register.write(url, value);
        if (status < 300) {
          this.#tally.count('acknowledged');
          state.acknowledged = value;
          state.sent = [];
        } else if (status !== 503) this.#tally.addFault(`${register.name} was answered with ${status} ${text.slice(0, 200)}`);
      } catch {
        // The node is down. The value may or may not be written.
        return;
      }
    }
  }

  /** Requires that each register has the last acknowledged value or a later one. `where` appears in the report. */
  async check(url: string, where: string): Promise<void> {
    for (const [register, state] of this.#states) {
      const isConsent = register.name.startsWith('consent');
      const toStored = (value: number): number => (isConsent ? value % 2 : value);
      try {
        const actual = await register.readValue(url);
        const allowed = [state.acknowledged, ...state.sent].map(toStored);
        this.#tally.require(
          allowed.includes(actual),
          () => `lost: ${register.name} is ${actual} ${where}, not one of ${allowed.join(', ')}`,
        );
        this.#tally.count('looked after');
        if (!isConsent) [state.acknowledged, state.sent] = [actual, []];
        else if (state.sent.length > 0)
          [state.acknowledged, state.sent] = [
            state.sent.concat(state.acknowledged).find((value) => toStored(value) === actual) ?? 0,
            [],
          ];
      } catch (error) {
        this.#tally.addFault(`${register.name} ${where}: ${error instanceof Error ? error.message : error}`);
      }
    }
  }

  pick(random: Random): Register {
    return random.pick([...this.#states.keys()]);
  }

  get registers(): Iterable<Register> {
    return this.#states.keys();
  }
}
