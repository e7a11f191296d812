export const chatSettingsEnglish = {
  chatInstructions: 'Instructions',
  chatInstructionsHint: 'How to answer, what to know, what to leave out',
  chatTemperature: 'Temperature',
  chatTemperatureHint: 'Low for what is precise, high for what is varied. Applications may have their own.',
  chatLength: 'Longest answer, in tokens',
  chatTools: 'Tools',
  chatToolsHint: 'The model may use these to answer.',
  asDeployment: 'as the model has it',
  setNothing: 'Reset all',
  apply: 'Apply',
  presets: 'Presets',
  presetName: 'Keep these under a name',
};

export type ChatSettingsStrings = typeof chatSettingsEnglish;
