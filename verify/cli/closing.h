/* What a run leaves out, and where its time went. */
#ifndef UNSEEN_CLOSING_H
#define UNSEEN_CLOSING_H

#include "reports/result.h"

/* Mark the result as partial where --budget or --fail-fast left configurations out. */
void closing_note_left(struct result *result);

/* Set result->seconds, and phase.other so that the phases add up to it. Workers side by side (--jobs) do more work than seconds
 * pass: their phases are then shares of the time that was left to them. */
void closing_seconds(struct result *result, double seconds);

/* Add a finding for the first configuration that is timed clearly below what the hardware permits. */
void closing_find_excess(struct result *result);

/* Add a finding where the candidate uses what --forbid names, and say what was looked at. */
void closing_find_forbidden(struct result *result);

#endif
