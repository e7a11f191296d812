import type { BackgroundStrings } from './background-english.ts';

export const backgroundGerman: BackgroundStrings = {
  title: 'Antworten im Hintergrund',
  intro:
    'Was Programme in deinem Namen beantworten ließen, ohne dass jemand darauf wartete. Eine Antwort läuft weiter, auch wenn ihr Programm geht, und bleibt hier.',
  noAnswers: 'Noch gibt es keine. Ein Programm fragt mit „background: true“ über die Responses-API danach.',
  noStore: 'Dieser Dienst bewahrt keine Antworten auf.',
  all: 'Alle Antworten im Hintergrund',
  showMore: 'Mehr anzeigen',
  noQuestionText: 'Keine Frage in Worten',
  states: {
    queued: 'Wartet',
    in_progress: 'Wird beantwortet',
    completed: 'Fertig',
    incomplete: 'Abgeschnitten',
    failed: 'Fehlgeschlagen',
    cancelled: 'Angehalten',
  },
  stop: 'Anhalten',
  remove: 'Löschen',
  removeQuestion: 'Diese Antwort endgültig löschen? Ein Programm, das ihr noch folgt, erfährt, dass sie weg ist.',
  goOn: 'In einem Gespräch weitermachen',
  removed: 'Die Antwort wurde gelöscht.',
  stopped: 'Die Antwort wurde angehalten.',
  ended: 'Die Antwort ist fertig.',
  again: 'Die Verbindung ging verloren; es wird weiter gefolgt …',
  notFound: 'Diese Antwort gibt es nicht: Sie wurde gelöscht, ist abgelaufen oder gehört jemand anderem.',
  instructions: 'Anweisungen, die sie bekam',
};
