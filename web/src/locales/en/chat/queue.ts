/** Texts of the queue of messages that wait for an answer. */
export const queueEnglish = {
  label: 'Waiting messages',
  soon: 'Sent when this answer is done',
  onHold: 'Not sent, because the previous answer is not complete',
  queued: 'Your message waits until this answer is done.',
  now: 'Send now',
  nowStops: 'Send now and stop the current answer',
  edit: 'Edit this message',
  drop: 'Do not send',
};

export type QueueStrings = typeof queueEnglish;
