import type { ChatSettingsStrings } from '../../en/chat/chat-settings.ts';

export const chatSettingsGerman: ChatSettingsStrings = {
  chatInstructions: 'Anweisungen',
  chatInstructionsHint: 'Wie es antworten, was es wissen und was es weglassen soll',
  chatTemperature: 'Temperatur',
  chatTemperatureHint:
    'Niedriger ist genauer, höher ist abwechslungsreicher. Eine Anwendung kann statt deines Wertes ihren eigenen verwenden.',
  chatLength: 'Maximale Länge der Antwort, in Token (100 Token sind etwa 60 bis 80 Wörter)',
  chatTools: 'Werkzeuge',
  chatToolsHint: 'Das Modell kann sie für seine Antworten nutzen.',
  deploymentDefault: 'Vorgabe des Modells',
  resetAll: 'Alles zurücksetzen',
  apply: 'Übernehmen',
  presets: 'Vorlagen',
  saveAsPreset: 'Als Vorlage speichern',
};
