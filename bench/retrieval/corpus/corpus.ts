import { makeDocument } from '../make/make-document.ts';
import { manuals } from './manuals.ts';
import { notes } from './notes.ts';
import { policies } from './policies.ts';
import { settings } from './settings.ts';
import { slides } from './slides.ts';
import { tables } from './tables.ts';

export interface CorpusDocument {
  readonly file: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Creates the forty documents, which are the same in every run. */
export function makeCorpus(): CorpusDocument[] {
  const papers = [...manuals, ...policies, ...tables(), ...slides, ...notes];
  const documents = papers.map((paper) => ({ file: paper.file, bytes: makeDocument(paper) }));
  const json = Object.entries(settings).map(([file, value]) => ({
    file,
    bytes: Uint8Array.from(Buffer.from(JSON.stringify(value, null, 1))),
  }));
  return [...documents, ...json];
}
