export const projectsEnglish = {
  projectsOfConversation: (title: string) => `Projects of the chat “${title}”`,
  newProjectHint:
    'A project groups chats, and gives them instructions and files. It is created with its first chat. You can change the instructions and add files later.',
  name: 'Name',
  startProject: 'Start a chat',
  addProject: 'Add',
  done: 'Done',
  title: (project: string) => `Project “${project}”`,
  hint: (visibility: string) =>
    `All chats of a project use its instructions and files. ${visibility} Models receive only files of the types that they accept.`,
  instructions: 'Instructions',
  files: 'Files',
  addFiles: 'Add files…',
  saved: 'Saved. The next message of each chat in this project uses it.',
};

export type ProjectsStrings = typeof projectsEnglish;
