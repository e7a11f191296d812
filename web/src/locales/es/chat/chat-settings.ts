import type { ChatSettingsStrings } from '../../en/chat/chat-settings.ts';

export const chatSettingsSpanish: ChatSettingsStrings = {
  chatInstructions: 'Instrucciones',
  chatInstructionsHint: 'Cómo responder, qué tener en cuenta, qué omitir',
  chatTemperature: 'Temperatura',
  chatTemperatureHint:
    'Más baja: respuestas más precisas. Más alta: respuestas más variadas. Una aplicación puede usar la suya en lugar de la tuya.',
  chatLength: 'Longitud máxima de la respuesta, en tokens (100 tokens son unas 60 a 80 palabras)',
  chatTools: 'Herramientas',
  chatToolsHint: 'El modelo puede usarlas para responder.',
  deploymentDefault: 'valor del modelo',
  resetAll: 'Restablecer todo',
  apply: 'Aplicar',
  presets: 'Ajustes guardados',
  saveAsPreset: 'Guardar como ajustes',
};
