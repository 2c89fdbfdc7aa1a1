/** Charts over the same axis: one cursor and one zoom for all of them. */

interface Member { point(at: number | null, here: boolean): void; draw(): void }

export class Group {
  private readonly members: Member[] = [];
  /** Where the cursor is. */
  at: number | null = null;
  /** The part of the axis that is shown; `null` for all of it. */
  zoom: [number, number] | null = null;

  join(member: Member): void {
    this.members.push(member);
  }

  /** Moves the cursor, which is in one of them. */
  show(at: number | null, by: Member): void {
    this.at = at;
    for (const member of this.members) member.point(at, member === by);
  }

  /** Shows a part of the axis, or all of it. */
  focus(zoom: [number, number] | null): void {
    this.zoom = zoom;
    for (const member of this.members) member.draw();
  }
}
