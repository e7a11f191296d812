import type { BackgroundStrings } from '../en/background.ts';

export const backgroundGerman: BackgroundStrings = {
  title: 'Antworten im Hintergrund',
  intro:
    'Antworten, die Programme in deinem Namen im Hintergrund angefordert haben. Eine Antwort läuft weiter, wenn ihr Programm die Verbindung trennt, und wird hier gespeichert.',
  noAnswers:
    'Noch keine Antworten im Hintergrund. Programme können sie anfordern. Für Entwickler: „background: true“ in der Responses-API.',
  noStore: 'Dieser Dienst speichert keine Antworten. Dein Administrator kann Speicher einrichten.',
  all: 'Alle Antworten im Hintergrund',
  showMore: 'Mehr anzeigen',
  noQuestionText: 'Frage ohne Text',
  states: {
    queued: 'Wartet',
    in_progress: 'In Arbeit',
    completed: 'Fertig',
    incomplete: 'Unvollständig',
    failed: 'Fehlgeschlagen',
    cancelled: 'Angehalten',
  },
  stop: 'Anhalten',
  remove: 'Löschen',
  removeQuestion: 'Diese Antwort endgültig löschen? Ein Programm, das noch auf sie wartet, wird darüber informiert.',
  continueInChat: 'In einem Gespräch fortsetzen',
  removed: 'Die Antwort wurde gelöscht.',
  stopped: 'Die Antwort wurde angehalten.',
  ready: 'Die Antwort ist fertig.',
  reconnecting: 'Die Verbindung ging verloren. Verbindung wird wiederhergestellt …',
  notFound: 'Diese Antwort wurde nicht gefunden. Sie wurde gelöscht, ist abgelaufen oder gehört einem anderen Benutzer.',
  instructions: 'Anweisungen',
};
