import { madeByUsers } from '#domain/deployments/application-place.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { Reason } from '#surfaces/ops/routes.ts';

/** Documents that applications of the configuration name and that are not stored, as far as somebody looked. */
export class MissingDocuments {
  readonly #byApplication = new Map<string, readonly string[]>();
  readonly #snapshot: () => ConfigSnapshot;

  constructor(snapshot: () => ConfigSnapshot) {
    this.#snapshot = snapshot;
  }

  /** Notes all that an application lacks now; gives sentences for the log, of what was not known yet. */
  note(application: string, references: readonly string[]): readonly string[] {
    const known = this.#byApplication.get(application) ?? [];
    if (references.length === 0) this.#byApplication.delete(application);
    else if (!application.startsWith(madeByUsers)) this.#byApplication.set(application, references);
    return references.filter((each) => !known.includes(each)).map((each) => toSentence(application, each));
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
