/* Properties that a busy machine may not change. */
#include <check.h>

#include "cli.h"
#include "suites.h"

Suite *busy_suite(void)
{
    Suite *suite = suite_create("busy");
    suite_add_tcase(suite, processors_case());
    suite_add_tcase(suite, lease_case());
    suite_add_tcase(suite, room_case());
    suite_add_tcase(suite, neighbours_case());
    suite_add_tcase(suite, starved_case());
    suite_add_tcase(suite, cli_busy_case());
    return suite;
}
