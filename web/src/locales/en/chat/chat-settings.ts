export const chatSettingsEnglish = {
  chatInstructions: 'Instructions',
  chatInstructionsHint: 'How to answer, what to know, what to leave out',
  chatTemperature: 'Temperature',
  chatTemperatureHint: 'Lower is more precise, higher is more varied. An application can use its own value instead of yours.',
  chatLength: 'Maximum answer length, in tokens (100 tokens are roughly 60 to 80 words)',
  chatTools: 'Tools',
  chatToolsHint: 'The model can use these to answer.',
  deploymentDefault: 'model default',
  resetAll: 'Reset all',
  apply: 'Apply',
  presets: 'Presets',
  saveAsPreset: 'Save as preset',
};

export type ChatSettingsStrings = typeof chatSettingsEnglish;
