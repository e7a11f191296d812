import { createPlural } from '../../strings/create-plural.ts';
import type { FormsStrings } from '../en/forms.ts';

const plural = createPlural('fr');

export const formsFrench: FormsStrings = {
  required: 'obligatoire',
  chooseOne: 'Choisir…',
  mustBeFilled: 'Ce champ est obligatoire.',
  mustBeNumber: 'Saisissez un nombre.',
  mustBeWhole: 'Saisissez un nombre entier.',
  atLeast: (bound) => `Au moins ${bound}.`,
  atMost: (bound) => `Au plus ${bound}.`,
  minLength: (bound) => `Au moins ${bound} ${plural(bound, 'caractère', 'caractères')}.`,
  maxLength: (bound) => `Au plus ${bound} ${plural(bound, 'caractère', 'caractères')}.`,
  mustBeEmail: 'Saisissez une adresse e-mail.',
  mustBeAddress: 'Saisissez une adresse web, comme https://example.com.',
  mustBeDate: 'Saisissez une date.',
  mustBeTime: 'Saisissez une heure.',
  invalidFormat: 'Cela n’a pas le format demandé.',
  yes: 'oui',
  no: 'non',
  mustBeJson: 'Ce JSON n’est pas valide.',
  asJsonValue: 'La page ne peut pas afficher ce formulaire. Remplissez-le en JSON.',
};
