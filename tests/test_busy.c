/* What a busy machine may not change. */
#include <check.h>

#include "suites.h"

Suite *busy_suite(void)
{
    Suite *suite = suite_create("busy");
    suite_add_tcase(suite, processors_case());
    suite_add_tcase(suite, lease_case());
    suite_add_tcase(suite, neighbours_case());
    suite_add_tcase(suite, starved_case());
    return suite;
}
