import type { ChatSettingsStrings } from './chat-settings-english.ts';

export const chatSettingsSpanish: ChatSettingsStrings = {
  chatInstructions: 'Instrucciones',
  chatInstructionsHint: 'Cómo responder, qué tener en cuenta, qué omitir',
  chatTemperature: 'Temperatura',
  chatTemperatureHint: 'Baja para la precisión, alta para la variedad. Las aplicaciones pueden tener la suya.',
  chatLength: 'Longitud máxima de la respuesta, en tokens',
  chatTools: 'Herramientas',
  chatToolsHint: 'El modelo puede usarlas para responder.',
  asDeployment: 'la del modelo',
  setNothing: 'Restablecer todo',
  apply: 'Aplicar',
  presets: 'Ajustes guardados',
  presetName: 'Guardar estos ajustes con un nombre',
};
