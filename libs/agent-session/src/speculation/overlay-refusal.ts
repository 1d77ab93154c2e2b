/**
 * Why a folder has no overlay. `too_large`: it holds more than is copied ahead. `special_file`: it holds a device, a socket or a pipe.
 * `nested`: the overlay would stand in it. `cannot_copy`: the system refused a part of the copy, or it changed meanwhile.
 */
export type OverlayRefusalReason = 'too_large' | 'special_file' | 'nested' | 'cannot_copy';

export class OverlayRefusal extends Error {
  override readonly name = 'OverlayRefusal';

  constructor(readonly reason: OverlayRefusalReason) {
    super(reason);
  }
}
