/** What is said of messages that wait for an answer. */
export const queueEnglish = {
  label: 'Messages that wait',
  soon: 'Sent when this answer is done',
  onHold: 'Not sent: the answer before was not complete',
  queued: 'Your message waits until this answer is done.',
  now: 'Send now',
  nowStops: 'Send now: this ends the answer that is coming',
  edit: 'Change this message',
  drop: 'Do not send',
};

export type QueueStrings = typeof queueEnglish;
