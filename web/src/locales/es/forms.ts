import { createPlural } from '../../strings/create-plural.ts';
import type { FormsStrings } from '../en/forms.ts';

const plural = createPlural('es');

export const formsSpanish: FormsStrings = {
  required: 'obligatorio',
  chooseOne: 'Elegir…',
  mustBeFilled: 'Este campo es obligatorio.',
  mustBeNumber: 'Escribe un número.',
  mustBeWhole: 'Escribe un número entero.',
  atLeast: (bound) => `Como mínimo ${bound}.`,
  atMost: (bound) => `Como máximo ${bound}.`,
  minLength: (bound) => `Como mínimo ${bound} ${plural(bound, 'carácter', 'caracteres')}.`,
  maxLength: (bound) => `Como máximo ${bound} ${plural(bound, 'carácter', 'caracteres')}.`,
  mustBeEmail: 'Escribe una dirección de correo electrónico.',
  mustBeAddress: 'Escribe una dirección web, como https://example.com.',
  mustBeDate: 'Escribe una fecha.',
  mustBeTime: 'Escribe una hora.',
  invalidFormat: 'Esto no tiene el formato requerido.',
  yes: 'sí',
  no: 'no',
  mustBeJson: 'Este JSON no es válido.',
  asJsonValue: 'La página no puede mostrar este formulario. Rellénalo como JSON.',
};
