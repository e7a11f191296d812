import type { CorpusDocument } from './corpus/corpus.ts';

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

const documents: readonly TranslatedDocument[] = [
  {
    language: 'en',
    title: 'Parking',
    text: 'Visitors leave their cars behind the north gate; the barrier opens with the badge.',
    question: 'Where may guests put their vehicle?',
    elsewhere: 'Wo dürfen Gäste ihr Auto abstellen?',
    code: 'E4103',
  },
  {
    language: 'en',
    title: 'Holidays',
    text: 'Employees have 30 days off a year, five of which may be taken over into March.',
    question: 'How much vacation do I get?',
    elsewhere: 'Combien de congés ai-je par an ?',
  },
  {
    language: 'en',
    title: 'Boiler',
    text: 'The water heater is switched off on Fridays at six and on again on Mondays at five.',
    question: 'When is there no hot water?',
    elsewhere: '¿Cuándo no hay agua caliente?',
    code: 'KX-17/b',
  },
  {
    language: 'en',
    title: 'Expenses',
    text: 'Receipts are handed in by the tenth of the following month; taxis need a reason.',
    question: 'Until when can I claim travel costs?',
  },
  {
    language: 'en',
    title: 'Keys',
    text: 'A lost key is reported to the porter at once; the lock is exchanged within a day.',
    question: 'What must I do if I cannot find my door opener?',
    code: 'lock.maxTries',
  },
  {
    language: 'de',
    title: 'Kantine',
    text: 'Mittagessen gibt es von halb zwölf bis zwei; freitags wird kein Fleisch serviert.',
    question: 'Wann kann man zu Mittag speisen?',
    elsewhere: 'When is lunch served?',
    code: 'M-2210',
  },
  {
    language: 'de',
    title: 'Drucker',
    text: 'Farbige Ausdrucke müssen vorher von der Teamleitung genehmigt werden.',
    question: 'Wer erlaubt bunte Kopien?',
    elsewhere: 'Who has to approve colour prints?',
  },
  {
    language: 'de',
    title: 'Heizung',
    text: 'Bleiben die Heizkörper kalt, ist das Ventil im Keller zu öffnen und Wasser nachzufüllen.',
    question: 'Was hilft, wenn es im Zimmer nicht warm wird?',
    code: 'F-0815',
  },
  {
    language: 'de',
    title: 'Fahrräder',
    text: 'Diensträder stehen im Hof; ausgeliehen werden sie für höchstens drei Tage.',
    question: 'Wie lange darf ich ein Rad behalten?',
    elsewhere: '¿Cuánto tiempo se puede tomar prestada una bicicleta?',
  },
  {
    language: 'de',
    title: 'Pakete',
    text: 'Sendungen werden am Empfang gesammelt und um 15 Uhr verteilt.',
    question: 'Wann bekomme ich meine Post?',
  },
  {
    language: 'fr',
    title: 'Salle de réunion',
    text: 'Les salles se réservent une semaine à l’avance auprès de l’accueil.',
    question: 'Comment obtenir une pièce pour un rendez-vous ?',
    elsewhere: 'How do I book a meeting room?',
    code: 'SR-44',
  },
  {
    language: 'fr',
    title: 'Télétravail',
    text: 'Chacun peut travailler chez soi deux jours par semaine, sauf le mardi.',
    question: 'Quels jours puis-je rester à la maison ?',
    elsewhere: 'An welchen Tagen darf ich zu Hause arbeiten?',
  },
  {
    language: 'fr',
    title: 'Incendie',
    text: 'En cas d’alarme, on sort par l’escalier de secours et on se retrouve sur la place.',
    question: 'Que faire si le feu se déclare ?',
    code: 'AL_900',
  },
  {
    language: 'fr',
    title: 'Ordinateur',
    text: 'Un appareil en panne est remplacé sous quarante-huit heures.',
    question: 'En combien de temps reçoit-on un nouveau PC ?',
  },
  {
    language: 'fr',
    title: 'Stage',
    text: 'Les stagiaires sont payés le vingt-cinq du mois.',
    question: 'Quand arrive la gratification ?',
  },
  {
    language: 'es',
    title: 'Gimnasio',
    text: 'El gimnasio abre a las siete y cierra a las veintidós; los domingos está cerrado.',
    question: '¿A qué hora se puede entrenar?',
    elsewhere: 'When can I work out at the gym?',
    code: 'GYM-3030',
  },
  {
    language: 'es',
    title: 'Basura',
    text: 'El papel va al contenedor azul y el vidrio al verde.',
    question: '¿Dónde tiro las botellas?',
    elsewhere: 'Wohin kommen leere Flaschen?',
  },
  {
    language: 'es',
    title: 'Ascensor',
    text: 'Si el ascensor se detiene, se pulsa el botón rojo y se espera al técnico.',
    question: '¿Qué hago si me quedo encerrado entre dos pisos?',
    code: 'A7.31',
  },
  {
    language: 'es',
    title: 'Uniforme',
    text: 'La ropa de trabajo se lava en la empresa cada jueves.',
    question: '¿Qué día se limpian las prendas?',
  },
  {
    language: 'es',
    title: 'Formación',
    text: 'Los cursos de idiomas se pagan a medias con la empresa.',
    question: '¿Quién costea las clases de inglés?',
  },
];

const meanings = {
  en: 'What does error # mean?',
  de: 'Was bedeutet der Fehler #?',
  fr: 'Que signifie l’erreur # ?',
  es: '¿Qué significa el error #?',
};
const filler = {
  en: 'The error is told to the house. What it means is told there.',
  de: 'Der Fehler wird dem Haus gemeldet. Was er bedeutet, sagt man dort.',
  fr: 'L’erreur est signalée à la maison. On y dit ce que cela signifie.',
  es: 'El error se comunica a la casa. Allí se dice lo que significa.',
};

/** Creates twenty documents in four languages, each with an uninformative section. */
export function makeLanguageCorpus(): CorpusDocument[] {
  return documents.map(({ language, title, text, code }) => {
    const codeSection = code === undefined ? '' : `\n\n## ${code}\n\n${code}: ${text.split(' ').slice(0, 4).join(' ')}`;
    const content = `# ${title}\n\n${text}${codeSection}\n\n## 1\n\n${filler[language]}`;
    return { file: toFileName(language, title), bytes: new TextEncoder().encode(content) };
  });
}

/** Creates the questions. Thirty use words of the document language or a code. All others use another language. */
export function languageQuestions(): LanguageQuestion[] {
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
