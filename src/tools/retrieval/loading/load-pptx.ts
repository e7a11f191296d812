import { posix } from 'node:path';
import { DOMParser } from 'linkedom';
import type { Block, LoadBounds, LoadedBlocks } from './block.ts';
import { DocumentFault } from './document-fault.ts';
import { readZip } from './read-zip.ts';

const presentation = 'ppt/presentation.xml';
const wanted = /^ppt\/(presentation\.xml|_rels\/presentation\.xml\.rels|(slides|notesSlides)\/(_rels\/)?[^/]+\.(xml|rels))$/;

type XmlDocument = ReturnType<DOMParser['parseFromString']>;
type XmlElement = NonNullable<ReturnType<XmlDocument['querySelector']>>;

/** A presentation: a slide is a page, with its title as heading and its notes behind it. */
export function loadPptx(bytes: Uint8Array, { maxUnpackedBytes, maxPages }: LoadBounds): LoadedBlocks {
  const presentation = new Presentation(readZip(bytes, maxUnpackedBytes, (name) => wanted.test(name)));
  const slides = presentation.slides();
  const blocks = slides.slice(0, maxPages).flatMap((slide, index) => presentation.blocks(slide, index + 1));
  const left = slides.length - maxPages;
  const [first] = blocks;
  return {
    title: first?.kind === 'heading' ? first.text : '',
    blocks,
    note: left > 0 ? `Only the first ${maxPages} slides were read; ${left} were left out.` : undefined,
  };
}

class Presentation {
  readonly #parts: ReadonlyMap<string, Buffer>;

  constructor(parts: ReadonlyMap<string, Buffer>) {
    this.#parts = parts;
  }

  /** Names of the slides' parts, in the order they are shown. */
  slides(): string[] {
    const targets = this.#targets(presentation);
    const ids = elements(this.#xml(presentation), 'p:sldId').map((slide) => slide.getAttribute('r:id') ?? '');
    return ids.flatMap((id) => targets.get(id) ?? []);
  }

  blocks(slide: string, page: number): Block[] {
    const shapes = elements(this.#xml(slide), 'p:sp');
    const title = shapes.find(isTitle);
    const said = textOf(title);
    const heading: Block[] = said === '' ? [] : [{ kind: 'heading', level: 1, text: said.replace(/\s+/g, ' '), page }];
    const texts = shapes.filter((shape) => shape !== title).map(textOf);
    const tables = elements(this.#xml(slide), 'a:tbl').map((table): Block => toTable(table, page));
    const notes = [...this.#targets(slide).values()].filter((target) => target.startsWith('ppt/notesSlides/'));
    const spoken = notes.flatMap((part) => elements(this.#xml(part), 'p:sp').filter(isBody).map(textOf));
    const toBlock = (text: string): Block => ({ kind: 'text', text, page });
    return [
      ...heading,
      ...texts.filter(Boolean).map(toBlock),
      ...tables,
      ...spoken.filter(Boolean).map((text) => toBlock(`Notes: ${text}`)),
    ];
  }

  /** What a part points to, by the id it uses for it. */
  #targets(part: string): Map<string, string> {
    const relations = posix.join(posix.dirname(part), '_rels', `${posix.basename(part)}.rels`);
    if (!this.#parts.has(relations)) return new Map();
    return new Map(
      elements(this.#xml(relations), 'Relationship').map((each) => {
        const target = each.getAttribute('Target') ?? '';
        return [
          each.getAttribute('Id') ?? '',
          target.startsWith('/') ? target.slice(1) : posix.join(posix.dirname(part), target),
        ];
      }),
    );
  }

  #xml(part: string): XmlDocument {
    const bytes = this.#parts.get(part);
    if (bytes === undefined) throw new DocumentFault(`The file is damaged: it has no ${part}.`);
    return new DOMParser().parseFromString(bytes.toString('utf8'), 'text/xml');
  }
}

function elements(parent: Pick<XmlElement, 'getElementsByTagName'>, name: string): XmlElement[] {
  return [...parent.getElementsByTagName(name)] as XmlElement[];
}

function isTitle(shape: XmlElement): boolean {
  return elements(shape, 'p:ph').some((place) => /^(title|ctrTitle)$/.test(place.getAttribute('type') ?? ''));
}

/** Notes have a picture of the slide and its number beside their text. */
function isBody(shape: XmlElement): boolean {
  return elements(shape, 'p:ph').some((place) => place.getAttribute('type') === 'body');
}

function textOf(shape: XmlElement | undefined): string {
  if (shape === undefined) return '';
  const lines = elements(shape, 'a:p').map((line) =>
    elements(line, 'a:t')
      .map((run) => run.textContent)
      .join(''),
  );
  return lines
    .filter((line) => line.trim() !== '')
    .join('\n')
    .trim();
}

function toTable(table: XmlElement, page: number): Block {
  const [header = [], ...rows] = elements(table, 'a:tr').map((row) =>
    elements(row, 'a:tc').map((cell) => textOf(cell).replace(/\s+/g, ' ')),
  );
  return { kind: 'table', header, rows, page };
}
