import { createPlural } from '../../strings/create-plural.ts';
import type { TransferStrings } from '../en/transfer.ts';

const plural = createPlural('fr');

export const transferFrench: TransferStrings = {
  transferTitle: 'Importer et exporter',
  exportIntro:
    'Un fichier avec toutes vos conversations et toutes les versions de leurs messages. Vous pouvez le réimporter ici, dans n’importe quel compte.',
  exportAll: 'Exporter toutes les conversations',
  exporting: 'Lecture de vos conversations…',
  exported: (count) => `${count} ${plural(count, 'conversation est', 'conversations sont')} dans le fichier.`,
  exportMissing: (count) =>
    `${count} de plus ${plural(count, 'n’a pas pu être lue et n’y figure pas', 'n’ont pas pu être lues et n’y figurent pas')}. Réessayez plus tard.`,
  importIntro:
    'Un fichier de cette page, conversations.json de l’export de ChatGPT (décompressez d’abord l’archive), un export d’Open WebUI ou une conversation exportée en JSON par LibreChat. Les conversations déjà présentes ne sont pas dupliquées.',
  chooseFile: 'Choisir un fichier à importer',
  importing: (count) => `${count} ${plural(count, 'conversation lue', 'conversations lues')} jusqu’ici…`,
  added: (count) => `${count} ${plural(count, 'nouvelle conversation', 'nouvelles conversations')}`,
  merged: (count) => `${count} ${plural(count, 'complétée', 'complétées')} par d’autres messages`,
  same: (count) => `${count} déjà ${plural(count, 'présente', 'présentes')}`,
  rejected: (count) => `${count} ${plural(count, 'illisible', 'illisibles')} : pas une conversation, vide ou trop volumineuse`,
  droppedFiles: (count) =>
    `${count} ${plural(count, 'fichier ou image n’a pas été importé', 'fichiers et images n’ont pas été importés')}, car le fichier importé n’en contient que ${plural(count, 'le nom', 'les noms')}.`,
  droppedSteps: (count) =>
    `${count} ${plural(count, 'étape', 'étapes')} entre question et réponse ${plural(count, 'n’a pas été importée', 'n’ont pas été importées')} : recherches, outils, réflexions.`,
  importTruncated: 'Le fichier contient trop de conversations. Seules les 50 000 premières ont été lues.',
  importStopped: 'Arrêté. Les conversations lues jusque-là sont importées.',
  unknownFormat:
    'Ce fichier ne peut pas être importé. Choisissez un fichier JSON de cette page, de ChatGPT, de LibreChat ou d’Open WebUI.',
  tooLarge: 'Le fichier dépasse 1 Go et ne peut pas être importé. Choisissez un fichier plus petit.',
  importFailed: 'L’importation a échoué. Les conversations lues jusque-là sont importées. Réessayez.',
  exportFailed: 'L’exportation a échoué. Vérifiez la connexion et réessayez.',
};
