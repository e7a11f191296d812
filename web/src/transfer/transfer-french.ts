import { createPlural } from '../strings/create-plural.ts';
import type { TransferStrings } from './transfer-english.ts';

const plural = createPlural('fr');

export const transferFrench: TransferStrings = {
  transferTitle: 'Importer et exporter',
  exportIntro:
    'Un fichier avec toutes vos conversations et toutes leurs branches. Il peut être réimporté ici, dans n’importe quel compte.',
  exportAll: 'Exporter toutes les conversations',
  exporting: 'Lecture de vos conversations…',
  exported: (count) => `${count} ${plural(count, 'conversation est', 'conversations sont')} dans le fichier.`,
  exportMissing: (count) =>
    `${count} d’entre elles ${plural(count, 'n’a pas pu être lue et n’y figure pas', 'n’ont pas pu être lues et n’y figurent pas')}. Réessayez plus tard.`,
  importIntro:
    'Un fichier de cette page, conversations.json de l’export de ChatGPT (décompressez d’abord l’archive), un export d’Open WebUI ou une conversation exportée en JSON par LibreChat. Ce qui est déjà là n’est pas dupliqué.',
  chooseFile: 'Choisir un fichier à importer',
  importing: (count) => `${count} ${plural(count, 'lue', 'lues')}…`,
  added: (count) => `${count} ${plural(count, 'nouvelle', 'nouvelles')}`,
  merged: (count) => `${count} avec de nouveaux échanges`,
  same: (count) => `${count} déjà ${plural(count, 'présente', 'présentes')}`,
  refused: (count) => `${count} ${plural(count, 'illisible', 'illisibles')} : pas une conversation, vide ou trop volumineuse`,
  droppedFiles: (count) =>
    `${count} ${plural(count, 'fichier ou image n’a pas été repris', 'fichiers et images n’ont pas été repris')} : le fichier n’en contient que les noms.`,
  droppedSteps: (count) =>
    `${count} ${plural(count, 'étape', 'étapes')} entre question et réponse ${plural(count, 'n’a pas été reprise', 'n’ont pas été reprises')} : recherches, outils, réflexions.`,
  importTruncated:
    'Le fichier contient plus de conversations qu’il n’en est repris à la fois ; celles au-delà des 50 000 premières ont été laissées.',
  importStopped: 'Arrêté. Ce qui a été lu jusque-là est ici.',
  unknownForm:
    'Ce fichier n’a pas une forme importable : il faut un fichier JSON de cette page, de ChatGPT, de LibreChat ou d’Open WebUI.',
  tooLarge: 'Le fichier dépasse 1 Go.',
  transferFailed: 'Une erreur est survenue. Ce qui a été lu jusque-là est ici ; réessayez.',
};
