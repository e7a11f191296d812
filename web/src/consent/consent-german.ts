import type { ConsentStrings } from './consent-english.ts';

export const consentGerman: ConsentStrings = {
  consentTitle: (name) => `Darf ${name} für dich handeln?`,
  consentIntro: (name) => `Um dir zu antworten, nutzt ${name} andere Anwendungen für dich. Diese nur, wenn du zustimmst:`,
  consentItself: (name) => `${name} arbeitet in deinem Namen und bittet dich vorher um Zustimmung.`,
  consentRevocable: 'Du kannst das jederzeit zurücknehmen, unter „Zustimmung“ im Menü.',
  consentStands: (name) => `Du hast zugestimmt. ${name} darf für dich handeln.`,
  consentNothingRequired: (name) => `${name} braucht keine Zustimmung.`,
  consentOthers: 'Diese nutzt es auch; sie brauchen keine Zustimmung:',
  consentGraph: (name) => `Was ${name} nutzt`,
  decline: 'Ablehnen',
  acceptedOn: (date, names) => `Darf seit ${date} nutzen: ${names}.`,
  withdraw: 'Zurücknehmen',
  withdrawn: (name) => `Zurückgenommen. ${name} kann andere Anwendungen nicht mehr für dich nutzen.`,
  declined: (name) => `Abgelehnt. ${name} antwortet, kann aber nicht, was deine Zustimmung braucht.`,
  acceptedTitle: 'Wem du zugestimmt hast',
  acceptedNone: 'Im Moment niemandem. Wenn eine Anwendung andere für dich nutzen will, wirst du vorher gefragt.',
  backToChat: 'Zurück zum Gespräch',
};
