import { madeByUsers } from '#domain/deployments/application-place.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { Reason } from '#surfaces/ops/routes.ts';

const maxNames = 5;

/** Documents that applications of the configuration name and that are not stored, as far as somebody looked. */
export class MissingDocuments {
  readonly #byApplication = new Map<string, readonly string[]>();
  readonly #snapshot: () => ConfigSnapshot;

  constructor(snapshot: () => ConfigSnapshot) {
    this.#snapshot = snapshot;
  }

  /**
   * Notes all documents that an application lacks now. Returns one log line about newly missing documents, undefined if all were
   * known.
   */
  note(application: string, references: readonly string[]): string | undefined {
    const known = this.#byApplication.get(application) ?? [];
    if (references.length === 0) this.#byApplication.delete(application);
    else if (!application.startsWith(madeByUsers)) this.#byApplication.set(application, references);
    const knownOnes = new Set(known);
    const added = references.filter((each) => !knownOnes.has(each));
    const [first] = added;
    if (first === undefined || added.length === 1) return first && toSentence(application, first);
    const more = added.length > maxNames ? ', …' : '';
    return `${application} names ${added.length} documents that are not stored: ${added.slice(0, maxNames).join(', ')}${more}`;
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
