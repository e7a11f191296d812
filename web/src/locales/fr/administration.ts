import { createPlural } from '../../strings/create-plural.ts';
import type { AdminStrings } from '../en/administration.ts';

const plural = createPlural('fr');

export const adminFrench: AdminStrings = {
  title: 'Administration',
  sections: 'Rubriques de l’administration',
  unknownSection: 'Cette rubrique n’existe pas. Choisissez-en une ci-dessus.',
  unavailable:
    'Ce service ne peut pas changer sa configuration pendant qu’il fonctionne, car il n’a pas de base de données. Modifiez plutôt son fichier de configuration.',
  readOnly: 'Vous pouvez tout consulter ici, mais rien modifier.',

  start: 'Vue d’ensemble',
  welcome: 'Bienvenue. Préparons votre service',
  startIntro: 'Ces étapes suffisent pour commencer. Vous pourrez tout modifier plus tard.',
  firstModel: 'Ajouter un modèle',
  firstModelHint: 'Il vous faut l’adresse d’un fournisseur et sa clé. Testez-le ensuite d’un clic.',
  firstKey: 'Créer une clé',
  firstKeyHint: 'Une personne se connecte avec elle, ou un programme appelle vos modèles avec elle.',
  firstLimits: 'Définir des limites',
  firstLimitsHint:
    'Décidez de ce que chaque utilisateur d’un rôle peut utiliser. Sans limites, chacun utilise autant qu’il veut.',
  done: (count) => `C’est fait : ${count} à ce jour.`,

  kinds: {
    models: {
      title: 'Modèles',
      intro: 'Les modèles de langage que les personnes et les programmes peuvent utiliser.',
      add: 'Ajouter un modèle',
      empty: 'Il n’y a pas encore de modèle. Ajoutez le premier : il vous faut l’adresse d’un fournisseur et sa clé.',
      idHint: 'Le nom que les programmes utilisent, comme gpt-5. Il ne pourra plus être modifié.',
    },
    applications: {
      title: 'Applications',
      intro:
        'Vos propres services qui répondent comme un modèle, et des modèles avec instructions et outils (applications rapides).',
      add: 'Ajouter une application',
      empty: 'Il n’y a pas encore d’application. Ajoutez-en une si vous avez un service qui répond comme un modèle.',
      idHint: 'Le nom que les programmes utilisent. Il ne pourra plus être modifié.',
    },
    addons: {
      title: 'Extensions',
      intro: 'Des services web que les modèles peuvent appeler comme outils.',
      add: 'Ajouter une extension',
      empty: 'Il n’y a pas encore d’extension. Ajoutez-en une si un modèle doit appeler un service web.',
      idHint: 'Le nom que les programmes utilisent. Il ne pourra plus être modifié.',
    },
    prompts: {
      title: 'Prompts',
      intro: 'Des textes que chacun peut insérer dans ses messages.',
      add: 'Ajouter un prompt',
      empty: 'Il n’y a pas encore de prompt. Ajoutez des textes utiles à beaucoup, comme le plan d’un rapport.',
      idHint: 'Le nom affiché au moment du choix. Il ne pourra plus être modifié.',
      deleteEffect: 'Il ne pourra plus être inséré dans les messages.',
    },
    roles: {
      title: 'Rôles',
      intro: 'Un rôle décide des modèles que ses personnes et ses clés peuvent utiliser, et combien.',
      add: 'Ajouter un rôle',
      empty:
        'Aucun rôle n’a encore de réglages. Les rôles « default », « admin » et « auditor » fonctionnent sans réglages. Ajoutez « default » pour limiter tout le monde, ou un rôle pour un groupe.',
      idHint:
        'Le nom du rôle dans les clés et chez votre fournisseur d’identité. Les réglages de « default » valent pour les personnes et les clés sans rôle, et pour les rôles sans réglages.',
      deleteEffect:
        'Ses limites et sa permission de créer des clés ne s’appliqueront plus. Les réglages du rôle « default » s’appliqueront à la place, s’il y en a.',
    },
    keys: {
      title: 'Clés',
      intro:
        'Des personnes se connectent avec des clés, ou des programmes appellent vos modèles avec elles. Toutes les clés d’une équipe partagent conversations, fichiers et mémoire.',
      add: 'Créer une clé',
      empty: 'Il n’y a pas encore de clé. Créez-en une par personne ou par programme.',
      idHint: '',
      deleteEffect: 'Les personnes et les programmes qui l’utilisent perdront aussitôt l’accès.',
    },
    projects: {
      title: 'Équipes',
      intro:
        'Une équipe est un groupe de clés et d’utilisateurs avec des limites et des responsables communs. Dans la configuration, elle s’appelle « project ».',
      add: 'Ajouter une équipe',
      empty:
        'Aucune équipe n’a encore de réglages. Une clé peut appartenir à une équipe sans réglages. Ajoutez une équipe pour limiter son utilisation.',
      idHint: 'Le nom de l’équipe dans ses clés.',
      deleteEffect: 'Ses limites et ses responsables ne s’appliqueront plus. Ses clés fonctionneront toujours.',
    },
    users: {
      title: 'Limites d’utilisateurs',
      intro: 'Des limites pour certains utilisateurs, en plus de celles de leurs rôles. La plus stricte s’applique.',
      add: 'Ajouter des limites pour un utilisateur',
      empty: 'Aucun utilisateur n’a encore de limites propres. Ajoutez des limites pour une personne.',
      idHint: 'L’ID de l’utilisateur, comme affiché sous « Utilisation ».',
      deleteEffect: 'Ces limites ne s’appliqueront plus à l’utilisateur. Celles des rôles s’appliqueront toujours.',
    },
    'identity-providers': {
      title: 'Connexion',
      intro: 'Les fournisseurs d’identité dont les utilisateurs peuvent se connecter.',
      add: 'Ajouter un fournisseur d’identité',
      empty:
        'Personne ne peut encore se connecter avec un compte. Ajoutez votre fournisseur d’identité, comme Keycloak ou Entra ID.',
      idHint: 'Un nom court pour ce fournisseur. Il fait partie des ID des utilisateurs et ne pourra plus être modifié.',
      deleteEffect: 'Ses utilisateurs ne pourront plus se connecter, et ceux qui sont connectés perdront aussitôt l’accès.',
    },
  },
  addEntry: 'Ajouter',
  emptyKind: (title) => `${title} : rien pour l’instant. Ajoutez la première entrée.`,
  idHint: 'Un nom court. Il ne pourra plus être modifié.',

  search: 'Rechercher',
  count: (count) => (count === '1' ? 'Une entrée' : `${count} entrées`),
  found: (count, all) => `${count} sur ${all} entrées`,
  showMore: 'Afficher plus',
  showAll: (count) => `Tout afficher (${count})`,
  name: 'Nom',
  summary: 'Résumé',
  source: 'Origine',
  fromFile: 'd’un fichier',
  health: 'État',
  healthStates: { good: 'Fonctionne', warning: 'A eu des erreurs', bad: 'Clé ou compte refusé' },

  test: 'Tester',
  testNamed: (id) => `Tester ${id}`,
  testing: 'Test en cours…',
  testPassed: (time) => `Réponse en ${time}`,
  testFailed: (time) => `Échec après ${time}`,
  vectorLength: (count) => `Un embedding de ${count} nombres.`,

  id: 'ID',
  settings: 'Réglages',
  view: 'Affichage',
  asForm: 'Formulaire',
  asJson: 'JSON',
  save: 'Enregistrer',
  saving: 'Enregistrement…',
  saved: 'Enregistré. La modification vaut partout en moins d’une seconde.',
  unsaved: 'Vous avez des modifications non enregistrées.',
  allSaved: 'Tout est enregistré.',
  leaveQuestion: 'Vous avez des modifications non enregistrées. Quitter sans enregistrer ?',
  discard: 'Quitter sans enregistrer',
  invalid: (count) =>
    `Rien n’est enregistré. ${count} ${plural(count, 'réglage doit être corrigé', 'réglages doivent être corrigés')}.`,
  conflict: 'Quelqu’un d’autre l’a modifié',
  changedMeanwhile: 'Cela a changé pendant votre saisie. Votre saisie est toujours là. Voici les autres modifications :',
  changedMeanwhileBy: (author) =>
    `${author} l’a modifié pendant votre saisie. Votre saisie est toujours là. Voici les autres modifications :`,
  contested: 'Vous l’avez modifié aussi. Votre valeur reste.',
  mergeChanges: 'Ajouter ces modifications aux miennes',
  discardOwn: 'Abandonner ma saisie',
  notSet: 'non défini',
  hiddenSecret: 'masqué',
  everything: 'Tout',

  fileNote:
    'Cette entrée se trouve dans un fichier de configuration et ne peut être modifiée que là. Copiez-la dans la base de données pour la modifier sur cette page.',
  move: 'Copier dans la base de données',
  moved: 'L’entrée est copiée. Supprimez-la maintenant du fichier. Vous pourrez ensuite la modifier ici.',
  delete: 'Supprimer',
  deleteQuestion: (name, effect) => `Supprimer « ${name} » ? ${effect}`,
  deleteEffect: 'Les conversations et les programmes qui l’utilisent recevront aussitôt des erreurs.',
  deleteInUse: (id, users) =>
    `D’autres entrées font référence à « ${id} » : ${users}. Si vous supprimez quand même, elles risquent de ne plus fonctionner ou d’avoir d’autres limites avant d’être corrigées.`,
  deleteAnyway: 'Supprimer quand même',
  deleted: (id) => `${id} est supprimé.`,

  keyOwner: 'Clés des',
  projectKeys: 'Équipes',
  userKeys: 'Utilisateurs',
  noUserKeys:
    'Aucun utilisateur n’a encore créé de clé. Les rôles décident de qui le peut : voir « Clés créées par les utilisateurs » dans un rôle.',
  teamHasKey: (team, name) =>
    `L’équipe « ${team} » a déjà la clé « ${name} ». Les personnes qui se connectent avec une clé de cette équipe voient et modifient les mêmes conversations, les mêmes fichiers et la même mémoire.`,
  startsWith: 'Commence par',
  forever: 'sans fin',
  expired: 'expirée',
  state: 'Remarques',
  lastUse: 'Dernière utilisation',
  never: 'jamais',
  neverUsed: 'Pas encore utilisée',
  lastUsed: (time) => `Dernière utilisation : ${time}`,
  blocked: 'Bloquée',
  block: 'Bloquer',
  unblock: 'Débloquer',
  keyBlocked: 'La clé est bloquée. Ses requêtes prennent fin en quelques secondes.',
  keyUnblocked: 'La clé fonctionne de nouveau.',
  overlap: 'L’ancienne clé vaut encore',
  overlapName: (seconds) =>
    ({ 0: 'plus du tout', 3600: 'une heure', 86400: 'un jour', 604800: 'une semaine' })[seconds] ?? `${seconds} secondes`,
  rotateQuestion: 'Remplacer cette clé ? La nouvelle clé ne s’affiche qu’une fois.',
  rotate: 'Remplacer la clé',
  newKey: 'La nouvelle clé',
  copyKey: 'Copier la clé',
  shownOnce:
    'Copiez-la maintenant. Elle ne s’affiche qu’une fois. Un programme peut s’en servir pour appeler vos modèles. Une personne qui se connecte ici avec elle voit toutes les conversations, tous les fichiers et la mémoire de l’équipe de la clé.',
  keySaved: 'Je l’ai conservée',
  actions: 'Actions',
  user: 'Utilisateur',
  revoke: 'Révoquer',
  revokeQuestion: (user) => `Révoquer cette clé de ${user} ? Elle cesse de fonctionner en moins d’une seconde.`,
  revoked: 'La clé est révoquée.',
  blockUser: 'Bloquer l’utilisateur',
  blockUserQuestion: (user) =>
    `Bloquer ${user} ? Toutes ses clés et ses connexions cessent de fonctionner. Les données restent, et vous pourrez le débloquer plus tard.`,
  userBlocked: (user) => `${user} est bloqué.`,
  userUnblocked: (user) => `${user} n’est plus bloqué.`,
  unblockNamed: (user) => `Débloquer ${user}`,
  blockedUsers: 'Utilisateurs bloqués',
  reason: 'Motif',
  since: 'Depuis',

  limits: 'Limites par rôle',
  limitsIntro:
    'Ce que chaque utilisateur d’un rôle peut utiliser de chaque modèle. Choisissez ce qui est limité, puis écrivez un nombre dans une case.',
  limitsNote:
    'Un nombre gris vient de la ligne « Tous les autres » ou du rôle « default ». Un nombre propre à un modèle le remplace. 0 interdit l’accès.',
  limitKind: 'Limite',
  limitFor: (role, deployment) => `${role} : ${deployment}`,
  noLimit: 'sans limite',
  badLimit: 'Une limite doit être un nombre entier, ou rester vide.',
  changedCells: (count) => `${count} ${plural(count, 'case n’est pas enregistrée', 'cases ne sont pas enregistrées')}.`,
  deployment: 'Modèle ou application',
  allOthers: 'Tous les autres',
  noRoles: 'Aucun rôle n’a encore de limites. Ajoutez « default » pour limiter tout le monde.',
  addRole: 'Ajouter un rôle',

  alerts: 'Alertes',
  alertsIntro: 'Parley envoie un message à une adresse web lorsque l’utilisation atteint un pourcentage défini d’une limite.',
  noAlerts: 'Il n’y a pas encore d’alerte.',
  limit: 'Limite',
  threshold: 'Envoyée à',
  receiver: 'Destinataire',
  alertScopes: {
    project: 'Équipe',
    key: 'Clé',
    role: 'Chaque utilisateur ayant le rôle',
    user: 'Utilisateur',
    '*': 'Chaque utilisateur',
  },
  notSent: 'Rien d’envoyé ces 7 derniers jours',
  lastSent: (time) => `Dernier envoi : ${time}`,
  sendingFailed: (time, error) => `Dernier échec${time && ` ${time}`} : ${error}`,
  nextAttempt: (time, count) =>
    count === '1' ? `Prochain essai : ${time}` : `Prochain essai : ${time}, ${count} messages en attente`,
  addAlert: 'Ajouter une alerte',
  addAlertIntro:
    'Les alertes sont dans le fichier de configuration. Ajoutez ces lignes et adaptez-les. Elles s’appliquent dès que vous enregistrez le fichier.',
  alertFields: {
    of: 'à qui s’applique la limite. Par exemple project:search (une équipe), key:ci, role:staff, user:ada, ou * pour chaque utilisateur.',
    window: 'quelle limite. Par exemple cost.month, tokens.day, ou requests.hour:gpt pour un seul modèle.',
    at: 'quand le message est envoyé. 0.8 signifie que 80 % de la limite est utilisée, et 1 qu’elle l’est entièrement.',
    url: 'l’adresse web qui reçoit le message. Elle peut être dans votre propre réseau.',
    secret: 'signe le message, pour que le destinataire puisse vérifier qu’il vient de Parley.',
  },

  sharedApplications: 'Applications partagées',
  sharedIntro:
    'Applications que des utilisateurs ont créées et partagent avec d’autres. Leurs propriétaires décident qui peut les utiliser. Chaque changement figure dans le journal sous « Exploitation ».',
  nothingShared: 'Aucune application n’est partagée.',
  application: 'Application',
  applicationOwner: 'Propriétaire',
  usedBy: 'Utilisée par',
  lastChange: 'Dernier changement',
  changes: 'Modifications',
  changesIntro: 'Qui a modifié quoi, sur cette page ou en ligne de commande. Vous pouvez annuler la plupart des modifications.',
  noChanges: 'Rien n’a encore été modifié. Les modifications apparaissent ici dès que quelqu’un enregistre quelque chose.',
  older: 'Afficher les modifications plus anciennes',
  details: 'Afficher les réglages',
  changeActions: {
    saved: 'Enregistré',
    deleted: 'Supprimé',
    applied: 'Repris d’un fichier',
    rotated: 'Clé remplacée',
    reset: 'Utilisation remise à zéro',
    rolled_back: 'Annulé',
  },
  writeActions: { created: 'Créé :', updated: 'Modifié :', deleted: 'Supprimé :' },
  undo: 'Annuler la modification',
  undoNamed: (time) => `Annuler la modification du ${time}`,
  undoQuestion: 'Annuler cette modification ? Les réglages précédents s’appliquent de nouveau en moins d’une seconde.',
  undone: 'La modification est annulée.',
  spending: 'Utilisation de tous',

  inUse: (users) => `Impossible, car d’autres entrées dépendent des réglages actuels : ${users}. Modifiez d’abord ces entrées.`,
  storeUnavailable:
    'Le service ne peut pas charger ou enregistrer cela pour l’instant, par exemple parce que sa base de données est injoignable. Votre saisie reste. Réessayez un peu plus tard.',
  errors: {
    id_taken: 'Une entrée porte déjà cet ID. Choisissez-en un autre.',
    configured_in_file: 'Cette entrée se trouve dans un fichier de configuration et ne peut être modifiée que là.',
    last_administrator:
      'Impossible, car plus personne ne pourrait administrer le service. Donnez d’abord le rôle admin à une autre clé ou connexion.',
    change_overwritten: 'Impossible, car une modification plus récente concerne la même entrée. Annulez d’abord la plus récente.',
    key_revoked:
      'Impossible, car une annulation ne rend pas une clé de nouveau valable. Si elle est bloquée, choisissez « Débloquer ». Si elle a expiré, modifiez « Valable jusqu’au ». Si elle a été supprimée ou remplacée, créez une nouvelle clé.',
    entry_not_found: 'Cette entrée n’existe plus. Quelqu’un l’a peut-être supprimée.',
    key_not_found: 'Cette clé n’existe plus. Quelqu’un l’a peut-être supprimée.',
    change_not_found: 'Cette modification n’est plus enregistrée.',
  },
};
