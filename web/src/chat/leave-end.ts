/** Name of the event that asks a thread to stay where it is scrolled to, instead of following its end. It bubbles. */
export const leaveEndEvent = 'parley-leave-end';
