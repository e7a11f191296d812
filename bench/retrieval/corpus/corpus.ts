import { makeDocument } from '../make/make-document.ts';
import manuals from './manuals.json' with { type: 'json' };
import notes from './notes.json' with { type: 'json' };
import type { Paper } from './paper.ts';
import policies from './policies.json' with { type: 'json' };
import settings from './settings.json' with { type: 'json' };
import slides from './slides.json' with { type: 'json' };
import { createTables } from './tables.ts';

export interface CorpusDocument {
  readonly file: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Creates the forty documents, which are the same in every run. */
export function createCorpus(): CorpusDocument[] {
  const papers: readonly Paper[] = [...manuals, ...policies, ...createTables(), ...slides, ...notes];
  const documents = papers.map((paper) => ({ file: paper.file, bytes: makeDocument(paper) }));
  const json = Object.entries(settings).map(([file, value]) => ({
    file,
    bytes: Uint8Array.from(Buffer.from(JSON.stringify(value, null, 1))),
  }));
  return [...documents, ...json];
}
