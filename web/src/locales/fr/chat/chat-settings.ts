import type { ChatSettingsStrings } from '../../en/chat/chat-settings.ts';

export const chatSettingsFrench: ChatSettingsStrings = {
  chatInstructions: 'Instructions',
  chatInstructionsHint: 'Comment répondre, ce qu’il faut savoir, ce qu’il faut omettre',
  chatTemperature: 'Température',
  chatTemperatureHint:
    'Plus basse : réponses plus précises. Plus haute : réponses plus variées. Une application peut utiliser la sienne au lieu de la vôtre.',
  chatLength: 'Longueur maximale de la réponse, en tokens (100 tokens font environ 60 à 80 mots)',
  chatTools: 'Outils',
  chatToolsHint: 'Le modèle peut s’en servir pour répondre.',
  deploymentDefault: 'valeur du modèle',
  resetAll: 'Tout réinitialiser',
  apply: 'Appliquer',
  presets: 'Préréglages',
  saveAsPreset: 'Enregistrer comme préréglage',
};
