import type { ConsentStrings } from '../en/consent.ts';

export const consentGerman: ConsentStrings = {
  consentTitle: (name) => `Darf ${name} in deinem Namen handeln?`,
  consentIntro: (name) =>
    `Um dir zu antworten, nutzt ${name} andere Anwendungen in deinem Namen. Diese darf es nur nutzen, wenn du zustimmst:`,
  consentItself: (name) => `${name} handelt in deinem Namen und braucht vorher deine Zustimmung.`,
  consentRevocable: 'Du kannst deine Zustimmung jederzeit zurücknehmen, unter „Berechtigungen“ im Menü.',
  consentGiven: (name) => `Du hast zugestimmt. ${name} darf in deinem Namen handeln.`,
  consentNotRequired: (name) => `${name} braucht deine Zustimmung nicht.`,
  consentOthers: 'Es nutzt auch diese, die keine Zustimmung brauchen:',
  consentGraph: (name) => `Was ${name} nutzt`,
  decline: 'Ablehnen',
  acceptedOn: (date, names) => `Seit ${date} darf es ${names} nutzen.`,
  withdraw: 'Zurücknehmen',
  withdrawn: (name) => `Zustimmung zurückgenommen. ${name} kann andere Anwendungen nicht mehr in deinem Namen nutzen.`,
  declined: (name) => `Abgelehnt. ${name} kann weiter antworten, aber nichts tun, was deine Zustimmung braucht.`,
  acceptedTitle: 'Berechtigungen von Anwendungen',
  noPermissions:
    'Du hast keine Berechtigungen erteilt. Eine Anwendung fragt dich, bevor sie andere Anwendungen in deinem Namen nutzt.',
  backToChat: 'Zurück zum Gespräch',
};
