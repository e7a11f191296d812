export const projectsEnglish = {
  projectsOfConversation: (title: string) => `Projects of the chat “${title}”`,
  newProjectHint:
    'A project groups chats, and gives them instructions and files. You can change the instructions and add files later.',
  createdWithChat: 'It is created with its first chat.',
  projectExists: (project: string) =>
    `The project “${project}” already exists. “Start a chat” opens it, with its own instructions and files.`,
  nameTaken: (project: string) => `The project “${project}” already exists. Choose another name.`,
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
  saved: 'Saved. This applies from the next message of each chat in this project.',
  deleteProject: 'Delete project…',
  deleteQuestion: (project: string) =>
    `Delete the project “${project}” with its instructions and files? Its chats stay, and no longer belong to it. Files on the page “Files” stay there.`,
};

export type ProjectsStrings = typeof projectsEnglish;
