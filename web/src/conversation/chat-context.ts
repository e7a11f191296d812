import { isAcceptedType } from '#base/http/media-type.ts';
import { filterObjects, toText } from '#base/json/json.ts';
import type { Attachment, Message } from '#contract/chat/message.ts';
import type { Deployment } from '../service/deployments.ts';
import type { Service } from '../service/service.ts';
import { toErrorDetails } from '../service/service-error.ts';
import { deleteDocument, listDocuments, readRecentDocument, renameDocument, saveDocument } from '../service/user-documents.ts';
import type { Conversation, UsedContext } from './conversation.ts';

/** Notes about the user for every chat. */
export interface Memory {
  readonly notes: string;
  readonly isOn: boolean;
}

/** Instructions and files for the chats of a project. A project is a tag of its chats. */
export interface Project {
  readonly instructions: string;
  readonly files: readonly Attachment[];
}

/** Instructions and files that a request contains in addition to the turns and settings of its chat. */
export interface ChatContext {
  readonly instructions: readonly string[];
  readonly files: readonly Attachment[];
  /** The notes and projects that are used. Undefined if there are none. */
  readonly used?: UsedContext;
}

/** The files that a deployment accepts in a message. */
export type FileLimits = Pick<Deployment, 'attachmentTypes' | 'maxAttachments'>;

export const maxNotesChars = 8000;
const memoryName = 'notes';
const notesIntroduction = 'Notes about the user, written by the user:';

/** Throws `ServiceError`. */
export async function readMemory(service: Service): Promise<Memory> {
  const { content, isOn } = (await readRecentDocument(service, 'memory', memoryName)) ?? {};
  return { notes: toText(content), isOn: isOn !== false };
}

/** Throws `ServiceError`. */
export function saveMemory(service: Service, { notes, isOn }: Memory): Promise<void> {
  return saveDocument(service, 'memory', { name: memoryName, content: notes, isOn });
}

/** Returns an empty project if the tag has no instructions and no files. Throws `ServiceError`. */
export async function readProject(service: Service, name: string): Promise<Project> {
  const { content, files } = (await readRecentDocument(service, 'projects', name)) ?? {};
  return { instructions: toText(content), files: filterObjects(files) as Attachment[] };
}

/** With `isNew`, throws the status 412 if the project exists. Throws `ServiceError`. */
export function saveProject(service: Service, name: string, { instructions, files }: Project, isNew = false): Promise<void> {
  return saveDocument(service, 'projects', { name, content: instructions, files }, isNew ? { 'if-none-match': '*' } : {});
}

/** Saves a project and gives it another name. Returns false if a project has that name. Throws `ServiceError`. */
export async function renameProject(service: Service, name: string, newName: string, project: Project): Promise<boolean> {
  const names = await listDocuments(service, 'projects');
  if (names.includes(newName)) return false;
  try {
    if (names.includes(name)) {
      await saveProject(service, name, project);
      // A single operation: if several tabs rename the project concurrently, only one succeeds.
      await renameDocument(service, 'projects', name, newName);
    } else await saveProject(service, newName, project, true);
  } catch (error) {
    const { status, param } = toErrorDetails(error);
    if (status !== 412 && param !== 'destinationUrl') throw error;
    return false;
  }
  return true;
}

/** Deletes the instructions and files of a project, if there are any. Throws `ServiceError`. */
export async function deleteProject(service: Service, name: string): Promise<void> {
  const names = await listDocuments(service, 'projects');
  if (names.includes(name)) await deleteDocument(service, 'projects', name);
}

/**
 * Returns the memory and the projects of a chat, with the files that the deployment accepts. Applications of other users receive
 * no memory, because a link can open a chat with them. Empty if the service stores no data of the user. Throws `ServiceError`.
 */
export async function readChatContext(
  service: Service,
  conversation: Conversation,
  deployment: (FileLimits & Pick<Deployment, 'owner'>) | undefined,
): Promise<ChatContext> {
  const { owner = 'other' } = deployment ?? {};
  try {
    const context = await readStoredContext(service, conversation, owner !== 'other');
    return { ...context, files: pickAcceptedFiles(context.files, deployment) };
  } catch (error) {
    const { status } = toErrorDetails(error);
    if (status !== 403 && status !== 404) throw error;
    return { instructions: [], files: [] };
  }
}

async function readStoredContext(service: Service, { tags = [] }: Conversation, includesMemory: boolean): Promise<ChatContext> {
  const [memory, ...projects] = await Promise.all([
    includesMemory ? readMemory(service) : undefined,
    ...tags.map((tag) => readProject(service, tag)),
  ]);
  const notes = memory?.isOn && memory.notes.trim() !== '' ? [`${notesIntroduction}\n${memory.notes.trim()}`] : [];
  const instructions = projects.map((project) => project.instructions.trim()).filter((text) => text !== '');
  const isUsed = (project: Project | undefined): boolean => Boolean(project?.instructions.trim() || project?.files.length);
  const used = { hasNotes: notes.length > 0, projects: tags.filter((_, index) => isUsed(projects[index])) };
  return {
    instructions: [...notes, ...instructions],
    files: projects.flatMap(({ files }) => files),
    ...((used.hasNotes || used.projects.length > 0) && { used }),
  };
}

function pickAcceptedFiles(
  files: readonly Attachment[],
  { attachmentTypes = ['*/*'], maxAttachments = Number.POSITIVE_INFINITY }: Partial<FileLimits> = {},
): readonly Attachment[] {
  return files.filter(({ type = 'text/markdown' }) => isAcceptedType(type, attachmentTypes)).slice(0, maxAttachments);
}

/** Adds files to the first question, after its own files and up to the maximum of the deployment. */
export function withFiles(
  messages: readonly Message[],
  files: readonly Attachment[],
  limits: FileLimits | undefined,
): readonly Message[] {
  const first = messages.find(({ role }) => role === 'user');
  if (files.length === 0 || first === undefined) return messages;
  const all = pickAcceptedFiles([...(first.custom_content?.attachments ?? []), ...files], limits);
  return messages.map((message) => (message === first ? withAttachments(message, all) : message));
}

/**
 * Removes the files that the deployment does not accept, because it would reject the request. Returns their names too. A message
 * without a text gets the names as its text.
 */
export function withoutRejectedFiles(
  messages: readonly Message[],
  limits: FileLimits | undefined,
): { readonly messages: readonly Message[]; readonly omittedFiles: readonly string[] } {
  const omittedFiles = new Set<string>();
  const acceptedMessages = messages.map((message) => {
    const { attachments = [] } = message.custom_content ?? {};
    const accepted = pickAcceptedFiles(attachments, limits);
    if (message.role !== 'user' || accepted.length === attachments.length) return message;
    const names = attachments.filter((file) => !accepted.includes(file)).map(({ title, type }) => title ?? type ?? '');
    for (const name of names) omittedFiles.add(name);
    return withAttachments({ ...message, content: message.content || names.join(', ') }, accepted);
  });
  return { messages: acceptedMessages, omittedFiles: [...omittedFiles] };
}

function withAttachments(message: Message, files: readonly Attachment[]): Message {
  const { custom_content: { attachments: _attachments, ...custom } = {}, ...fields } = message;
  const attachments = files.map((attachment, index) => ({ ...attachment, index }));
  const content = { ...custom, ...(files.length > 0 && { attachments }) };
  return { ...fields, ...(Object.keys(content).length > 0 && { custom_content: content }) } as Message;
}
