import type { ChatSettingsStrings } from './chat-settings-english.ts';

export const chatSettingsGerman: ChatSettingsStrings = {
  chatInstructions: 'Anweisungen',
  chatInstructionsHint: 'Wie geantwortet werden soll, was zu wissen und was wegzulassen ist',
  chatTemperature: 'Temperatur',
  chatTemperatureHint: 'Niedrig für Genaues, hoch für Abwechslung. Anwendungen können ihre eigene haben.',
  chatLength: 'Längste Antwort, in Token',
  chatTools: 'Werkzeuge',
  chatToolsHint: 'Das Modell darf sie für seine Antworten nutzen.',
  asDeployment: 'wie beim Modell',
  setNothing: 'Alles zurücksetzen',
  apply: 'Übernehmen',
  presets: 'Vorlagen',
  presetName: 'Diese unter einem Namen behalten',
};
