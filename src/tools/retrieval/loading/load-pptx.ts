import { posix } from 'node:path';
import { DOMParser } from 'linkedom';
import { type Block, DocumentError, type LoadBounds, type LoadedBlocks } from './loader.ts';
import { readZip } from './read-zip.ts';

const presentationPart = 'ppt/presentation.xml';
const neededParts = /^ppt\/(presentation\.xml|_rels\/presentation\.xml\.rels|(slides|notesSlides)\/(_rels\/)?[^/]+\.(xml|rels))$/;

type XmlDocument = ReturnType<DOMParser['parseFromString']>;
type XmlElement = NonNullable<ReturnType<XmlDocument['querySelector']>>;

/** Loads a presentation. Each slide is a page: its title becomes a heading, and its notes follow the content. */
export function loadPptx(bytes: Uint8Array, { maxUnpackedBytes, maxPages }: LoadBounds): LoadedBlocks {
  const presentation = new Presentation(readZip(bytes, maxUnpackedBytes, (name) => neededParts.test(name)));
  const slides = presentation.listSlides();
  const blocks = slides.slice(0, maxPages).flatMap((slide, index) => presentation.listBlocks(slide, index + 1));
  const omittedCount = slides.length - maxPages;
  const [first] = blocks;
  return {
    title: first?.kind === 'heading' ? first.text : '',
    blocks,
    note: omittedCount > 0 ? `Only the first ${maxPages} slides were read. ${omittedCount} more were omitted.` : undefined,
  };
}

class Presentation {
  readonly #parts: ReadonlyMap<string, Buffer>;

  constructor(parts: ReadonlyMap<string, Buffer>) {
    this.#parts = parts;
  }

  /** Returns the part names of the slides in presentation order. */
  listSlides(): string[] {
    const targets = this.#listTargets(presentationPart);
    const ids = listElements(this.#parseXml(presentationPart), 'p:sldId').map((slide) => slide.getAttribute('r:id') ?? '');
    return ids.flatMap((id) => targets.get(id) ?? []);
  }

  listBlocks(slide: string, page: number): Block[] {
    const shapes = listElements(this.#parseXml(slide), 'p:sp');
    const title = shapes.find(isTitle);
    const titleText = getText(title);
    const heading: Block[] = titleText === '' ? [] : [{ kind: 'heading', level: 1, text: titleText.replace(/\s+/g, ' '), page }];
    const texts = shapes.filter((shape) => shape !== title).map(getText);
    const tables = listElements(this.#parseXml(slide), 'a:tbl').map((table): Block => toTable(table, page));
    const notes = [...this.#listTargets(slide).values()].filter((target) => target.startsWith('ppt/notesSlides/'));
    const noteTexts = notes.flatMap((part) => listElements(this.#parseXml(part), 'p:sp').filter(isBody).map(getText));
    const toBlock = (text: string): Block => ({ kind: 'text', text, page });
    return [
      ...heading,
      ...texts.filter(Boolean).map(toBlock),
      ...tables,
      ...noteTexts.filter(Boolean).map((text) => toBlock(`Notes: ${text}`)),
    ];
  }

  /** Returns the targets of a part's relationships, by relationship ID. */
  #listTargets(part: string): Map<string, string> {
    const relations = posix.join(posix.dirname(part), '_rels', `${posix.basename(part)}.rels`);
    if (!this.#parts.has(relations)) return new Map();
    return new Map(
      listElements(this.#parseXml(relations), 'Relationship').map((relation) => {
        const target = relation.getAttribute('Target') ?? '';
        return [
          relation.getAttribute('Id') ?? '',
          target.startsWith('/') ? target.slice(1) : posix.join(posix.dirname(part), target),
        ];
      }),
    );
  }

  #parseXml(part: string): XmlDocument {
    const bytes = this.#parts.get(part);
    if (bytes === undefined) throw new DocumentError(`The file is damaged: it has no ${part}.`);
    return new DOMParser().parseFromString(bytes.toString('utf8'), 'text/xml');
  }
}

function listElements(parent: Pick<XmlElement, 'getElementsByTagName'>, name: string): XmlElement[] {
  return [...parent.getElementsByTagName(name)] as XmlElement[];
}

function isTitle(shape: XmlElement): boolean {
  return listElements(shape, 'p:ph').some((placeholder) => /^(title|ctrTitle)$/.test(placeholder.getAttribute('type') ?? ''));
}

/** Whether the shape is the text of the notes. Notes also contain a picture of the slide and its number. */
function isBody(shape: XmlElement): boolean {
  return listElements(shape, 'p:ph').some((placeholder) => placeholder.getAttribute('type') === 'body');
}

function getText(shape: XmlElement | undefined): string {
  if (shape === undefined) return '';
  const lines = listElements(shape, 'a:p').map((line) =>
    listElements(line, 'a:t')
      .map((run) => run.textContent)
      .join(''),
  );
  return lines
    .filter((line) => line.trim() !== '')
    .join('\n')
    .trim();
}

function toTable(table: XmlElement, page: number): Block {
  const [header = [], ...rows] = listElements(table, 'a:tr').map((row) =>
    listElements(row, 'a:tc').map((cell) => getText(cell).replace(/\s+/g, ' ')),
  );
  return { kind: 'table', header, rows, page };
}
