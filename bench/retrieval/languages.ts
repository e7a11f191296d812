import type { CorpusDocument } from './corpus/corpus.ts';
import data from './languages.json' with { type: 'json' };

/** The content of one document in one language. */
interface TranslatedDocument {
  readonly language: 'en' | 'de' | 'fr' | 'es';
  readonly title: string;
  readonly text: string;
  /** Question in the same language that shares few words with the text. */
  readonly question: string;
  /** The question in another language. */
  readonly elsewhere?: string;
  readonly code?: string;
}

/** A question and the file with its answer. */
export interface LanguageQuestion {
  readonly kind: 'plain' | 'code' | 'across';
  readonly question: string;
  readonly file: string;
}

const { meanings, filler } = data;
const documents = data.documents as readonly TranslatedDocument[];

/** Creates twenty documents in four languages, each with an uninformative section. */
export function makeLanguageCorpus(): CorpusDocument[] {
  return documents.map(({ language, title, text, code }) => {
    const codeSection = code === undefined ? '' : `\n\n## ${code}\n\n${code}: ${text.split(' ').slice(0, 4).join(' ')}`;
    const content = `# ${title}\n\n${text}${codeSection}\n\n## 1\n\n${filler[language]}`;
    return { file: toFileName(language, title), bytes: new TextEncoder().encode(content) };
  });
}

/** Creates the questions. Thirty use words of the document language or a code. All others use another language. */
export function createLanguageQuestions(): LanguageQuestion[] {
  const plain = documents.map(({ language, title, question }) => ({
    kind: 'plain' as const,
    question,
    file: toFileName(language, title),
  }));
  const coded = documents.flatMap(({ language, title, code }) =>
    code === undefined
      ? []
      : [{ kind: 'code' as const, question: meanings[language].replace('#', code), file: toFileName(language, title) }],
  );
  const across = documents.flatMap(({ language, title, elsewhere }) =>
    elsewhere === undefined ? [] : [{ kind: 'across' as const, question: elsewhere, file: toFileName(language, title) }],
  );
  return [...plain, ...coded, ...across];
}

function toFileName(language: string, title: string): string {
  return `${language}-${title.toLowerCase().replaceAll(' ', '-')}.md`;
}
