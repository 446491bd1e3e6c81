// What charts on one axis of time share, in pixels.

export const LEFT = 68, RIGHT = 8;
