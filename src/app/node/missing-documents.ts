import { madeByUsers } from '#domain/deployments/application-place.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { Reason } from '#surfaces/ops/routes.ts';

const maxNames = 5;
/** Applications whose log lines are remembered: users can save any number of them. */
const maxLogged = 1000;

/** Documents that applications of the configuration name and that are not stored, as far as somebody looked. */
export class MissingDocuments {
  readonly #byApplication = new Map<string, readonly string[]>();
  /** What was logged under the configuration in force, also of applications of users. */
  readonly #logged = new Map<string, ReadonlySet<string>>();
  #configuration: object | undefined;
  readonly #snapshot: () => ConfigSnapshot;

  constructor(snapshot: () => ConfigSnapshot) {
    this.#snapshot = snapshot;
  }

  /**
   * Notes all documents that an application lacks now. Returns one log line about the documents that were not logged under the
   * configuration in force, undefined if all were.
   */
  note(application: string, references: readonly string[]): string | undefined {
    if (references.length === 0) this.#byApplication.delete(application);
    else if (!application.startsWith(madeByUsers)) this.#byApplication.set(application, references);
    const added = this.#findUnlogged(application, references);
    const [first] = added;
    if (first === undefined || added.length === 1) return first && toSentence(application, first);
    const more = added.length > maxNames ? ', …' : '';
    return `${application} names ${added.length} documents that are not stored: ${added.slice(0, maxNames).join(', ')}${more}`;
  }

  #findUnlogged(application: string, references: readonly string[]): readonly string[] {
    const { configuration } = this.#snapshot();
    if (configuration !== this.#configuration) this.#logged.clear();
    this.#configuration = configuration;
    const logged = this.#logged.get(application) ?? new Set();
    this.#logged.delete(application);
    if (references.length > 0) this.#logged.set(application, new Set(references));
    for (const oldest of [...this.#logged.keys()].slice(0, -maxLogged)) this.#logged.delete(oldest);
    return references.filter((each) => !logged.has(each));
  }

  get reasons(): readonly Reason[] {
    const { deployments } = this.#snapshot();
    return [...this.#byApplication].flatMap(([application, references]) => {
      const { quickApp } = deployments.get(application) ?? {};
      const named = (quickApp?.toolsets ?? []).flatMap((toolset) => (toolset.kind === 'documents' ? toolset.files : []));
      const missing = references.filter((each) => named.includes(each));
      return missing.map((each) => ({ code: 'document_missing', message: toSentence(application, each) }));
    });
  }
}

function toSentence(application: string, reference: string): string {
  return `${application} looks things up in ${reference}, which is not stored; upload it`;
}
