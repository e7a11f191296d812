import { type Answered, ask } from '#test/ask.ts';
import { callerKey, withKey } from '#test/start-service.ts';
import type { Random } from '../random.ts';
import { consentedNames, quickAppType } from '../support/calm-upstream.ts';
import type { Tally } from '../tally.ts';

/** Something that is written again and again, each time with another value. */
export interface Register {
  readonly name: string;
  write(url: string, value: number): Promise<Answered>;
  /** The value that is there now; 0 for none. Throws where what is there was never written whole. */
  read(url: string): Promise<number>;
}

const get = (url: string, path: string): Promise<Answered> =>
  ask(url, { method: 'GET', path, headers: { 'api-key': callerKey } });
const put = (url: string, path: string, body: unknown): Promise<Answered> =>
  ask(url, { method: 'PUT', path, headers: withKey(), body });

function requireStatus({ status, text }: Answered, ...allowed: readonly number[]): void {
  if (!allowed.includes(status)) throw new Error(`${status} ${text.slice(0, 200)}`);
}

/** Content that tells its own length, so that half of it is seen to be half. */
function contentOf(value: number): string {
  return `${value}:${'x'.repeat((value * 7_919) % 200_000)}`;
}

function file(bucket: string, nth: number): Register {
  const path = `/v1/files/${bucket}/kills/${nth}.txt`;
  return {
    name: `file ${nth}`,
    write: (url, value) => put(url, path, contentOf(value)),
    async read(url) {
      const answered = await get(url, path);
      requireStatus(answered, 200, 404);
      if (answered.status === 404) return 0;
      const value = Number.parseInt(answered.text, 10);
      if (answered.text !== contentOf(value))
        throw new Error(`half of a file: ${answered.text.length} bytes of ${contentOf(value).length}`);
      return value;
    },
  };
}

function prompt(bucket: string, nth: number): Register {
  const path = `/v1/prompts/${bucket}/kills-${nth}`;
  return {
    name: `prompt ${nth}`,
    write: (url, value) => put(url, path, { id: 'p', folderId: 'f', name: String(value), content: contentOf(value) }),
    async read(url) {
      const answered = await get(url, path);
      requireStatus(answered, 200, 404);
      if (answered.status === 404) return 0;
      const { name, content } = answered.json as { name: string; content: string };
      if (content !== contentOf(Number(name))) throw new Error('half of a prompt');
      return Number(name);
    },
  };
}

function application(bucket: string, nth: number): Register {
  const path = `/v1/applications/${bucket}/kills-${nth}`;
  const properties = { temperature: 0, instructions: 'Be kind.', model: 'free' };
  return {
    name: `application ${nth}`,
    write: (url, value) =>
      put(url, path, {
        displayName: String(value),
        applicationTypeSchemaId: quickAppType,
        applicationProperties: { ...properties, instructions: contentOf(value) },
      }),
    async read(url) {
      const answered = await get(url, path);
      requireStatus(answered, 200, 404);
      if (answered.status === 404) return 0;
      const value = answered.json as Record<string, unknown>;
      const told = Number(value.displayName ?? value.display_name);
      if (!JSON.stringify(value).includes(`"${contentOf(told)}"`)) throw new Error('half of an application');
      return told;
    },
  };
}

/** Odd values give the consent, even ones withdraw it. */
function consent(name: string): Register {
  const path = `/v1/consent/${name}`;
  return {
    name: `consent to ${name}`,
    async write(url, value) {
      if (value % 2 === 0) return ask(url, { method: 'DELETE', path, headers: { 'api-key': callerKey } });
      const form = { [name]: { consentRequired: true }, guarded: { consentRequired: true } };
      return ask(url, { path, headers: withKey(), body: { consent: form } });
    },
    async read(url) {
      const answered = await get(url, path);
      requireStatus(answered, 200);
      return (answered.json as { accepted: boolean }).accepted ? 1 : 0;
    },
  };
}

/** All that is written, for the caller of tests. */
export async function openRegisters(url: string): Promise<readonly Register[]> {
  const { bucket } = (await get(url, '/v1/bucket')).json as { bucket: string };
  const four = [0, 1, 2, 3];
  const kinds = [file, prompt, application].flatMap((make) => four.map((nth) => make(bucket, nth)));
  return [...kinds, ...consentedNames.map(consent)];
}

/** What is known of each register: its last acknowledged value, and those that were sent since. */
export class Ledger {
  readonly #known = new Map<Register, { acknowledged: number; sent: number[] }>();
  readonly #tally: Tally;
  #next = 1;

  constructor(registers: readonly Register[], tally: Tally) {
    for (const register of registers) this.#known.set(register, { acknowledged: 0, sent: [] });
    this.#tally = tally;
  }

  /** Writes until told to stop; what is answered with success counts as acknowledged. */
  async writeOn(url: string, register: Register, isOver: () => boolean): Promise<void> {
    const known = this.#known.get(register);
    while (known !== undefined && !isOver()) {
      const value = this.#next;
      this.#next += 1;
      known.sent.push(value);
      try {
        const { status, text } = await register.write(url, value);
        if (status < 300) {
          this.#tally.count('acknowledged');
          known.acknowledged = value;
          known.sent = [];
        } else if (status !== 503) this.#tally.fault(`${register.name} was answered with ${status} ${text.slice(0, 200)}`);
      } catch {
        // The node is gone: whether this was written is open.
        return;
      }
    }
  }

  /** Requires that each register holds what was acknowledged last, or what was sent after it; `where` is for the report. */
  async check(url: string, where: string): Promise<void> {
    for (const [register, known] of this.#known) {
      const isConsent = register.name.startsWith('consent');
      const held = (value: number): number => (isConsent ? value % 2 : value);
      try {
        const found = await register.read(url);
        const allowed = [known.acknowledged, ...known.sent].map(held);
        this.#tally.require(
          allowed.includes(found),
          () => `lost: ${register.name} is ${found} ${where}, none of ${allowed.join(', ')}`,
        );
        this.#tally.count('looked after');
        if (!isConsent) [known.acknowledged, known.sent] = [found, []];
        else if (known.sent.length > 0)
          [known.acknowledged, known.sent] = [
            known.sent.concat(known.acknowledged).find((value) => held(value) === found) ?? 0,
            [],
          ];
      } catch (thrown) {
        this.#tally.fault(`${register.name} ${where}: ${thrown instanceof Error ? thrown.message : thrown}`);
      }
    }
  }

  pick(random: Random): Register {
    return random.pick([...this.#known.keys()]);
  }

  get registers(): Iterable<Register> {
    return this.#known.keys();
  }
}
