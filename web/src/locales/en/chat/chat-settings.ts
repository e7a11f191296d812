export const chatSettingsEnglish = {
  chatInstructions: 'Instructions',
  chatInstructionsHint: 'How to answer, what to know, what to leave out',
  chatTemperature: 'Temperature',
  chatTemperatureHint: 'Lower is more precise, higher is more varied. Applications can have their own value.',
  chatLength: 'Maximum answer length, in tokens',
  chatTools: 'Tools',
  chatToolsHint: 'The model can use these to answer.',
  deploymentDefault: 'model default',
  resetAll: 'Reset all',
  apply: 'Apply',
  presets: 'Presets',
  saveAsPreset: 'Save as preset',
};

export type ChatSettingsStrings = typeof chatSettingsEnglish;
