import { createPlural } from '../strings/create-plural.ts';
import type { FormsStrings } from './forms-english.ts';

const plural = createPlural('es');

export const formsSpanish: FormsStrings = {
  required: 'obligatorio',
  chooseOne: 'Elegir…',
  mustBeFilled: 'Este campo es obligatorio.',
  mustBeNumber: 'Escribe un número.',
  mustBeWhole: 'Escribe un número entero.',
  atLeast: (bound) => `Como mínimo ${bound}.`,
  atMost: (bound) => `Como máximo ${bound}.`,
  longEnough: (bound) => `Como mínimo ${bound} ${plural(bound, 'carácter', 'caracteres')}.`,
  shortEnough: (bound) => `Como máximo ${bound} ${plural(bound, 'carácter', 'caracteres')}.`,
  mustBeEmail: 'Esto no es una dirección de correo electrónico.',
  mustBeAddress: 'Esto no es una dirección web, como https://example.com.',
  mustBeDate: 'Esto no es una fecha.',
  mustBeTime: 'Esto no es una hora.',
  mustBeFormed: 'Esto no tiene la forma que se pide.',
  yes: 'sí',
  no: 'no',
  mustBeJson: 'Este JSON no es válido.',
  asJsonValue: 'Este formulario es poco común; rellénalo como JSON.',
};
