/** What hands, the player and the host do to what is set. */
import { placeBetween } from "./controls.js";
import { createPlayer } from "./play.js";

/**
 * Make the moves.
 * @param {Window} window
 * @param {object} store
 * @param {{steps: function(string): number[], redraw: function(): void,
 *     commit: function(object): void}} host steps of a slider; commit is told what was let go
 * @returns {object}
 */
export function createMoves(window, store, { steps, redraw, commit }) {
  const held = new Set(); // keys of controls that are being moved
  const player = createPlayer(window, { steps, move: sweep, ended });

  function move(changes, ...keys) {
    keys.forEach((key) => held.add(key));
    store.set(changes);
    redraw();
  }

  function sweep(key, value) {
    move({ [key]: value }, key);
  }

  function ended(key, value) {
    sweep(key, value);
    release(key);
  }

  /** A hand on a slider that is being played ends the playing. */
  function take(changes, ...keys) {
    if (keys.includes(player.key)) player.stop();
    move(changes, ...keys);
  }

  function release(...keys) {
    keys.forEach((key) => held.delete(key));
    const settled = store.settle(held);
    if (settled) commit(settled);
    redraw();
  }

  function play(key) {
    player.toggle(key, placeBetween(steps(key), store.values[key]));
    redraw();
  }

  /** What is set elsewhere ends the playing. */
  function receive(payload) {
    if (store.overruledBy(payload)) drop();
    store.receive(payload, held);
    redraw();
  }

  function drop() {
    held.delete(player.key);
    player.drop();
  }

  return {
    take,
    release,
    play,
    receive,
    drop,
    /** The key that is swept, or null. */
    playing: () => player.key,
    resting: () => held.size === 0 && player.key === null,
  };
}
